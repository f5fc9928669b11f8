// Outcomes of attempts as the dispatcher reports them.
import { type AttemptError, type AttemptOutcome, NO_PHASES } from "../../../packages/posthorn/src/model.ts";

type Responded = Extract<AttemptOutcome, { kind: "responded" }>;

export function responded(statusCode: number, retryAfter: string | null = null): Responded {
  const responseBody = new Uint8Array();
  return { kind: "responded", statusCode, responseBody, retryAfter, durationMs: 5, phases: NO_PHASES };
}

export function failed(error: AttemptError): AttemptOutcome {
  return { kind: "failed", error, detail: "", durationMs: 5, phases: NO_PHASES };
}
