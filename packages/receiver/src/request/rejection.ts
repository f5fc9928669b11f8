// A rejected request: the response to the sender, and the report for the log.
import type { RejectedRequest } from "../hooks/hooks.ts";
import type { WebhookResponse } from "../model.ts";

export class Rejection {
  readonly answer: WebhookResponse;
  readonly report: RejectedRequest;

  constructor(
    answer: WebhookResponse,
    reason: RejectedRequest["reason"],
    detail: string,
    source: string | null = null,
  ) {
    this.answer = answer;
    this.report = { status: answer.status, source, reason, detail };
  }
}
