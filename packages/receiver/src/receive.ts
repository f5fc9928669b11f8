// The pipeline of a request: method → signature header → body → signature → events → claim, handler, completion → response.
// In this order nothing unauthenticated reaches the store, and only stored or handled messages are acknowledged.

import type { WebhookRequest, WebhookResponse } from "./model.ts";
import { authenticate, rejectUnsigned } from "./request/authenticate.ts";
import { checkMethod } from "./request/check-method.ts";
import { parseEvents, type Received } from "./request/parse-events.ts";
import { readBody } from "./request/read-body.ts";
import { Rejection } from "./request/rejection.ts";
import { type BatchMember, type Outcome, responseTo, responseToBatch } from "./respond.ts";
import type { Runtime } from "./runtime.ts";
import type { Source } from "./source.ts";

/** Handles one message as the receiver's mode requires. */
export type HandleMessage = (received: Received) => Promise<Outcome>;

export async function receive<Tx>(
  runtime: Runtime<Tx>,
  handle: HandleMessage,
  request: WebhookRequest,
): Promise<WebhookResponse> {
  try {
    const result = await steps(runtime, handle, request);
    if (!(result instanceof Rejection)) return result;
    runtime.report.rejected(result.report);
    return result.response;
  } catch (error) {
    runtime.report.failure(null, error, 0);
    return responseTo({ kind: "failed" }, {}, runtime.settings.contents);
  }
}

async function steps<Tx>(
  runtime: Runtime<Tx>,
  handle: HandleMessage,
  request: WebhookRequest,
): Promise<WebhookResponse | Rejection> {
  const { settings, sources, schemas } = runtime;
  const early = checkMethod(request, settings.handshake) ?? rejectUnsigned(request, sources);
  if (early !== null) return early;

  const body = await readBody(request, settings.maxBodyBytes);
  if (body instanceof Rejection) return body;

  const { method, url, headers } = request;
  const options = { toleranceSeconds: settings.toleranceSeconds, now: settings.now() };
  const authenticated = await authenticate({ method, url, headers, body }, sources, options);
  if (!("request" in authenticated)) return authenticated;

  // In inbox mode the worker validates the data: invalid data becomes a dead letter, because not every sender retries.
  const content = await parseEvents(
    authenticated.request,
    authenticated.source,
    settings.mode === "inbox" ? {} : schemas,
  );
  if (content instanceof Rejection) return content;
  if (content.kind === "answer") return content.answer;

  return await runtime.deliveries.track(() =>
    handleAll(runtime, handle, content.received, authenticated.source),
  );
}

async function handleAll<Tx>(
  runtime: Runtime<Tx>,
  handle: HandleMessage,
  received: readonly Received[],
  source: Source,
): Promise<WebhookResponse> {
  const [only, ...others] = received;
  if (only !== undefined && others.length === 0)
    return responseTo(await handleSafely(runtime, handle, only), source, runtime.settings.contents);
  return responseToBatch(await handleSequentially(runtime, handle, received), source);
}

/** Sequentially, in the order of the batch. A message that occurs twice is handled once. */
async function handleSequentially<Tx>(
  runtime: Runtime<Tx>,
  handle: HandleMessage,
  batch: readonly Received[],
): Promise<BatchMember[]> {
  const outcomes = new Map<string, Outcome>();
  const members: BatchMember[] = [];
  for (const received of batch) {
    const { id, digest } = received.message;
    const name = `${digest} ${id}`;
    const outcome = outcomes.get(name) ?? (await handleSafely(runtime, handle, received));
    outcomes.set(name, outcome);
    members.push({ id, outcome });
  }
  return members;
}

/** Handlers' errors are outcomes, so an error thrown here comes from the store: it is unavailable. */
async function handleSafely<Tx>(
  { report }: Runtime<Tx>,
  handle: HandleMessage,
  received: Received,
): Promise<Outcome> {
  try {
    return await handle(received);
  } catch (error) {
    report.failure(received.message, error, 0);
    return { kind: "unavailable", retryAfterMs: UNAVAILABLE_MS };
  }
}

/**
 * Posthorn pauses the endpoint for this long, and opens its circuit for 30 s after ten failures, five of which may be in flight
 * at once: a database restart should be over by the second attempt.
 */
const UNAVAILABLE_MS = 10_000;
