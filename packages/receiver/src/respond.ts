// What the sender hears. It retries by these, so each says truly whether the message is ours now.
import type { WebhookResponse } from "./model.ts";
import type { Source } from "./source.ts";

/** What became of one message. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "accepted" }
  /** Done, waiting or dead before this delivery. */
  | { readonly kind: "duplicate" }
  /** Older than what was applied of its subject. */
  | { readonly kind: "stale" }
  /** No handler wants its type. */
  | { readonly kind: "ignored" }
  /** Put among the dead letters by this delivery: it is ours now. */
  | { readonly kind: "dead" }
  | { readonly kind: "other_body" }
  | { readonly kind: "running"; readonly retryAfterMs: number }
  | { readonly kind: "gap"; readonly retryAfterMs: number }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number }
  | { readonly kind: "retry_later"; readonly retryAfterMs: number }
  | { readonly kind: "failed" }
  | { readonly kind: "gone" };

/** One of a batch. */
export interface Member {
  readonly id: string;
  readonly outcome: Outcome;
}

export const OUTCOME_STATUS: Readonly<Record<Outcome["kind"], number>> = {
  done: 200,
  duplicate: 200,
  stale: 200,
  ignored: 200,
  dead: 200,
  accepted: 202,
  other_body: 422,
  running: 409,
  gap: 409,
  unavailable: 503,
  retry_later: 503,
  failed: 500,
  gone: 410,
};

// Of a batch the one further down speaks for all: what never succeeds must not keep the rest from being sent again.
const PRECEDENCE: readonly Outcome["kind"][] = [
  "duplicate",
  "ignored",
  "stale",
  "done",
  "dead",
  "accepted",
  "other_body",
  "gone",
  "running",
  "gap",
  "retry_later",
  "unavailable",
  "failed",
];

export function responseTo(
  outcome: Outcome,
  { supportsRetryLater = false }: Pick<Source, "supportsRetryLater">,
): WebhookResponse {
  const headers: Record<string, string> = {};
  if ("retryAfterMs" in outcome) headers["retry-after"] = wholeSeconds(outcome.retryAfterMs);
  if (outcome.kind === "duplicate") headers["posthorn-duplicate"] = "true";
  const isLater = outcome.kind === "retry_later" && supportsRetryLater;
  return answer(isLater ? 409 : OUTCOME_STATUS[outcome.kind], { status: outcome.kind }, headers);
}

/** 2xx only when every member is ours; what is done already is a duplicate at the next delivery. */
export function responseToBatch(
  members: readonly Member[],
  source: Pick<Source, "supportsRetryLater">,
): WebhookResponse {
  const strongest = members
    .map(({ outcome }) => outcome)
    .reduce<Outcome>((loud, next) => (precedence(next) > precedence(loud) ? next : loud), {
      kind: "duplicate",
    });
  const { status, headers } = responseTo(members.length === 0 ? { kind: "done" } : strongest, source);
  const results = members.map(({ id, outcome }) => ({ id, status: outcome.kind }));
  return { status, headers, body: JSON.stringify({ results }) };
}

function precedence({ kind }: Outcome): number {
  return PRECEDENCE.indexOf(kind);
}

/** RFC 9110 §10.2.3; at least one, since 0 asks for a retry at once. */
function wholeSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}

/** One and the same whatever was wrong: an attacker learns nothing from it. */
export const unauthorized = answer(401, { error: "The request is not authentic." });
export const internalError = answer(500, { status: "failed" });

export function malformed(reason: string): WebhookResponse {
  return answer(400, { error: reason });
}

export function tooLarge(maxBodyBytes: number): WebhookResponse {
  return answer(413, { error: `The body has more than ${maxBodyBytes} bytes.` });
}

export function encoded(): WebhookResponse {
  return answer(
    415,
    { error: "Send the body without a content encoding." },
    { "accept-encoding": "identity" },
  );
}

export function methodNotAllowed(methods: string): WebhookResponse {
  return answer(405, { error: `Allowed is ${methods}.` }, { allow: methods });
}

export function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): WebhookResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
