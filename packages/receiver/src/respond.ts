// The responses to the sender. It retries by them, so a success status means that the message was accepted.
import type { WebhookResponse } from "./model.ts";
import type { Source } from "./source.ts";

/** The outcome of one message. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "accepted" }
  /** It was done, waiting or dead before this delivery. */
  | { readonly kind: "duplicate" }
  /** A later message of its subject was applied. */
  | { readonly kind: "stale" }
  /** There is no handler for its type. */
  | { readonly kind: "ignored" }
  /** This delivery made it a dead letter, so the sender need not send it again. */
  | { readonly kind: "dead" }
  | { readonly kind: "other_body" }
  | { readonly kind: "running"; readonly retryAfterMs: number }
  | { readonly kind: "gap"; readonly retryAfterMs: number }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number }
  | { readonly kind: "retry_later"; readonly retryAfterMs: number }
  | { readonly kind: "failed" }
  | { readonly kind: "gone" };

/** A member of a batch. */
export interface BatchMember {
  readonly id: string;
  readonly outcome: Outcome;
}

/** In order of precedence: the outcome of a batch is the last of these among its members, so a permanent failure does not prevent retries of the rest. */
export const OUTCOME_STATUS: Readonly<Record<Outcome["kind"], number>> = {
  duplicate: 200,
  ignored: 200,
  stale: 200,
  done: 200,
  dead: 200,
  accepted: 202,
  other_body: 422,
  gone: 410,
  running: 503,
  gap: 503,
  retry_later: 503,
  unavailable: 503,
  failed: 500,
};

/** Outcomes of a delivery that must come again although nothing is wrong. */
const LATER: ReadonlySet<Outcome["kind"]> = new Set(["running", "gap", "retry_later"]);

const PRECEDENCE = Object.keys(OUTCOME_STATUS);

/** An object or array is sent as JSON, a string as text, and an empty string as no body. */
export type ResponseBody = object | string;

/** The bodies of responses, by outcome, as the application configures them. */
export type ResponseBodies = { readonly [Kind in Outcome["kind"]]?: ResponseBody | undefined };

export interface ResponseContent {
  readonly type: string | null;
  readonly body: string;
}

/** The content of the response to every outcome, serialized once. */
export type Contents = Readonly<Record<Outcome["kind"], ResponseContent>>;

/** Throws if a body cannot be serialized. */
export function contentsOf(bodies: ResponseBodies): Contents {
  const contents = PRECEDENCE.map((kind) => {
    const body = bodies[kind as Outcome["kind"]] ?? { status: kind };
    return [kind, typeof body === "string" ? textContent(body) : jsonContent(body)];
  });
  return Object.fromEntries(contents);
}

function textContent(body: string): ResponseContent {
  return { type: body === "" ? null : "text/plain; charset=utf-8", body };
}

function jsonContent(body: object): ResponseContent {
  return { type: "application/json", body: JSON.stringify(body) };
}

export function responseTo(
  outcome: Outcome,
  { retryLaterStatus = 503 }: Pick<Source, "retryLaterStatus">,
  contents: Contents,
): WebhookResponse {
  const { type, body } = contents[outcome.kind];
  const headers: Record<string, string> = type === null ? {} : { "content-type": type };
  if ("retryAfterMs" in outcome) headers["retry-after"] = wholeSeconds(outcome.retryAfterMs);
  if (outcome.kind === "duplicate") headers["posthorn-duplicate"] = "true";
  const status = LATER.has(outcome.kind) ? retryLaterStatus : OUTCOME_STATUS[outcome.kind];
  return { status, headers, body };
}

const OWN_CONTENTS = contentsOf({});

/** 2xx only if every member was accepted; members that are done are duplicates at the next delivery. Its body names each member. */
export function responseToBatch(
  members: readonly BatchMember[],
  source: Pick<Source, "retryLaterStatus">,
): WebhookResponse {
  const strongest = members
    .map(({ outcome }) => outcome)
    .reduce<Outcome>((last, next) => (precedence(next) > precedence(last) ? next : last), {
      kind: "duplicate",
    });
  const { status, headers } = responseTo(
    members.length === 0 ? { kind: "done" } : strongest,
    source,
    OWN_CONTENTS,
  );
  const results = members.map(({ id, outcome }) => ({ id, status: outcome.kind }));
  return { status, headers, body: JSON.stringify({ results }) };
}

function precedence({ kind }: Outcome): number {
  return PRECEDENCE.indexOf(kind);
}

/** RFC 9110 §10.2.3. At least one, because 0 asks for an immediate retry. */
function wholeSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}

/** The same for every reason, so that an attacker learns nothing from it. */
export const unauthorized = jsonResponse(401, { error: "The request is not authentic." });

export function malformed(reason: string): WebhookResponse {
  return jsonResponse(400, { error: reason });
}

export function jsonResponse(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): WebhookResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
