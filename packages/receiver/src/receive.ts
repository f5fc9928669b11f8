// The way of a request: method → signature header → body → signature → events → claim, handler, done mark → answer. In this order: nothing
// that is not authentic reaches the store, and nothing is acknowledged that is not ours.

import type { WebhookRequest, WebhookResponse } from "./model.ts";
import { authenticate, rejectUnsigned } from "./request/authenticate.ts";
import { checkMethod } from "./request/check-method.ts";
import { parseEvents, type Received } from "./request/parse-events.ts";
import { readBody } from "./request/read-body.ts";
import { Rejection } from "./request/rejection.ts";
import { internalError, type Member, type Outcome, responseTo, responseToBatch } from "./respond.ts";
import type { Runtime } from "./runtime.ts";
import type { Source } from "./source.ts";

/** Brings one message to its end, or to where its mode leaves it. */
export type Work = (received: Received) => Promise<Outcome>;

export async function receive<Tx>(
  runtime: Runtime<Tx>,
  work: Work,
  request: WebhookRequest,
): Promise<WebhookResponse> {
  try {
    const result = await steps(runtime, work, request);
    if (!(result instanceof Rejection)) return result;
    runtime.report.rejected(result.report);
    return result.answer;
  } catch (error) {
    runtime.report.failure(null, error, 0);
    return internalError;
  }
}

async function steps<Tx>(
  runtime: Runtime<Tx>,
  work: Work,
  request: WebhookRequest,
): Promise<WebhookResponse | Rejection> {
  const { settings, sources, schemas } = runtime;
  const early = checkMethod(request, settings.handshake) ?? rejectUnsigned(request, sources);
  if (early !== null) return early;

  const body = await readBody(request, settings.maxBodyBytes);
  if (body instanceof Rejection) return body;

  const { method, url, headers } = request;
  const terms = { toleranceSeconds: settings.toleranceSeconds, now: settings.now() };
  const proven = await authenticate({ method, url, headers, body }, sources, terms);
  if (!("authentic" in proven)) return proven;

  // In the inbox it is the worker that looks at data: what does not fit is kept as a dead letter, since not every sender sends again.
  const content = await parseEvents(
    proven.authentic,
    proven.source,
    settings.mode === "inbox" ? {} : schemas,
  );
  if (content instanceof Rejection) return content;
  if (content.kind === "answer") return content.answer;

  return await runtime.deliveries.track(() => workOn(runtime, work, content.received, proven.source));
}

async function workOn<Tx>(
  runtime: Runtime<Tx>,
  work: Work,
  received: readonly Received[],
  source: Source,
): Promise<WebhookResponse> {
  const [only, ...others] = received;
  if (only !== undefined && others.length === 0)
    return responseTo(await workSafely(runtime, work, only), source);
  return responseToBatch(await workInTurn(runtime, work, received), source);
}

/** One after the other, as they stand in the batch; what stands in it twice counts once. */
async function workInTurn<Tx>(
  runtime: Runtime<Tx>,
  work: Work,
  batch: readonly Received[],
): Promise<Member[]> {
  const outcomes = new Map<string, Outcome>();
  const members: Member[] = [];
  for (const received of batch) {
    const { id, digest } = received.message;
    const name = `${digest} ${id}`;
    const outcome = outcomes.get(name) ?? (await workSafely(runtime, work, received));
    outcomes.set(name, outcome);
    members.push({ id, outcome });
  }
  return members;
}

/** Handlers' errors are outcomes, so what is thrown here is the store's: it cannot be reached. */
async function workSafely<Tx>({ report }: Runtime<Tx>, work: Work, received: Received): Promise<Outcome> {
  try {
    return await work(received);
  } catch (error) {
    report.failure(received.message, error, 0);
    return { kind: "unavailable", retryAfterMs: UNAVAILABLE_MS };
  }
}

/**
 * Posthorn sends nothing at all to the endpoint for so long, and opens its circuit for half a minute after ten failures, of which five
 * may come at once: so a restart of the database should be over by the second time.
 */
const UNAVAILABLE_MS = 10_000;
