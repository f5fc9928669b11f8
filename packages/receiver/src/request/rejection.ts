// A rejected request: the response to the sender, and the report for the log.
import type { RejectedRequest } from "../hooks/hooks.ts";
import type { WebhookResponse } from "../model.ts";

export class Rejection {
  readonly response: WebhookResponse;
  readonly report: RejectedRequest;

  constructor(
    response: WebhookResponse,
    reason: RejectedRequest["reason"],
    detail: string,
    source: string | null = null,
  ) {
    this.response = response;
    this.report = { status: response.status, source, reason, detail };
  }
}
