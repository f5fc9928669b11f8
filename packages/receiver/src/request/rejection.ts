// A request that goes no further: what the sender hears, and what people may read of it in the log.
import type { RefusedRequest } from "../hooks/hooks.ts";
import type { Answer } from "../model.ts";

export class Refused {
  readonly answer: Answer;
  readonly report: RefusedRequest;

  constructor(
    answer: Answer,
    reason: RefusedRequest["reason"],
    detail: string,
    source: string | null = null,
  ) {
    this.answer = answer;
    this.report = { status: answer.status, source, reason, detail };
  }
}
