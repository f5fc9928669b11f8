// Operations on events. Publishing is the busiest one: it awaits only the body and the database.
import type { PosthornContract } from "@posthorn/client";
import type { Posthorn, PosthornError, PublishInput, PublishOutcome, PublishResult } from "posthorn";
import { isTraceparent } from "posthorn/internal";
import type { Exchange } from "../../exchange.ts";
import { type FieldError, HttpError, invalidBody } from "../../http-error.ts";
import { type Handlers, JsonText, LargeResponse, RawHandler } from "../../implement.ts";
import { apiPointer, apiText } from "../../input/names.ts";
import { readBytesOf, readJsonBytes, readUtf8Bytes } from "../../middleware/read-body.ts";
import {
  cannotPublishForUser,
  otherTenant,
  type Principal,
  redaction,
  scopedTenant,
  tenantScope,
} from "../../principal.ts";
import { isPosthornError, ProblemError, problemOf } from "../../problem.ts";
import {
  cloudEventPlace,
  type PublishMode,
  placeOf,
  publishModeOf,
  readCloudEvents,
} from "./cloud-events.ts";
import { type EventsInput, readEvents } from "./input.ts";
import { eventDetailJson, eventPageJson } from "./present.ts";

export function eventOperations(hooks: Posthorn): Handlers<PosthornContract>["events"] {
  const { events } = hooks;
  const decided = async (id: string, principal: Principal) => {
    const { rejection } = await events.get(id, tenantScope(principal));
    return { id, rejection };
  };
  const decideByFilter = async <Decided>(
    { dryRun: isPreview = false, ...filter }: RejectedQuery & { readonly dryRun?: boolean | undefined },
    principal: Principal,
    releasable: boolean,
    decide: (query: RejectedQuery) => Promise<Decided>,
  ) => {
    const query: RejectedQuery = { ...filter, tenant: scopedTenant(principal, filter.tenant) };
    if (!isPreview) return await decide(query);
    const { cursor: _, ...counted } = query;
    return { dryRun: true as const, ...(await events.countRejected({ ...counted, releasable })) };
  };
  return {
    publish: new RawHandler((exchange) => publish(hooks, exchange), { isRefusedWhileDraining: true }),
    list: new LargeResponse(async ({ query: { data, ...query }, principal }) =>
      eventPageJson(await events.list({ ...query, ...redaction(principal) }), { omitsData: data === "omit" }),
    ),
    get: async ({ params, principal }) =>
      eventDetailJson(await events.get(params.event, { ...tenantScope(principal), ...redaction(principal) })),
    release: async ({ params, principal }) => {
      await events.release(params.event, tenantScope(principal));
      return await decided(params.event, principal);
    },
    discard: async ({ params, principal }) => {
      await events.discard(params.event, tenantScope(principal));
      return await decided(params.event, principal);
    },
    releaseRejected: ({ body, principal }) =>
      decideByFilter(body, principal, true, (query) => events.releaseRejected(query)),
    discardRejected: ({ body, principal }) =>
      decideByFilter(body, principal, false, (query) => events.discardRejected(query)),
    resendEdited: ({ params, body: { endpoint, dataJson }, principal }) =>
      events.resendEdited(
        params.event,
        { endpoint, rawData: Buffer.from(dataJson) },
        { ...tenantScope(principal), ...redaction(principal) },
      ),
    resend: ({ params, body, principal }) =>
      events.resend(params.event, body.endpoint, tenantScope(principal)),
  };
}

type RejectedQuery = NonNullable<Parameters<Posthorn["events"]["releaseRejected"]>[0]>;

async function publish(hooks: Posthorn, exchange: Exchange): Promise<JsonText> {
  const { request, principal } = exchange;
  const mode = publishModeOf(request.headers);
  if (mode !== "own") return await publishCloudEvents(hooks, exchange, mode);
  if (exchange.query !== "") throw onlyForCloudEvents();
  const body = readJsonBytes(exchange);
  const events = readEvents(body instanceof Promise ? await body : body);
  checkTenants(principal, events);
  const headerKey = idempotencyKeyOf(request.headers["idempotency-key"]);
  const trace = traceOf(request.headers.traceparent);
  if (events.kind === "user") {
    return new JsonText(JSON.stringify(await hooks.publish(trace(withKey(events.input, headerKey)))));
  }
  if (events.kind === "one") {
    const result = await hooks.publish(trace(withKey(events.input, headerKey)));
    return accepted(resultJson(result), result.duplicate);
  }
  if (headerKey !== undefined) {
    const message =
      "The Idempotency-Key header is for a single event. Set idempotency_key on each event of the array.";
    throw invalidBody([{ pointer: "", message }]);
  }
  return accepted(await publishAll(hooks, events.inputs.map(trace)), false);
}

async function publishCloudEvents(
  hooks: Posthorn,
  exchange: Exchange,
  mode: Exclude<PublishMode, "own">,
): Promise<JsonText> {
  const { request, principal } = exchange;
  if (idempotencyKeyOf(request.headers["idempotency-key"]) !== undefined) {
    const message = "A CloudEvent is identified by its source and id. Remove this header.";
    throw invalidBody([{ header: "idempotency-key", message }]);
  }
  const asked = new URLSearchParams(exchange.query).get("tenant");
  const tenant = scopedTenant(principal, asked ?? undefined) ?? null;
  const body = await (mode === "binary" ? readBytesOf(exchange) : readUtf8Bytes(exchange));
  const events = readCloudEvents(mode, request, body, tenant);
  const trace = traceOf(request.headers.traceparent);
  // the event's own trace context takes precedence
  const traced = (input: PublishInput) => (input.traceparent === undefined ? trace(input) : input);
  try {
    if (events.kind === "many") return accepted(await publishAll(hooks, events.inputs.map(traced)), false);
    const result = await hooks.publish(traced(events.input as PublishInput));
    return accepted(resultJson(result), result.duplicate);
  } catch (error) {
    throw inCloudEvent(error, mode);
  }
}

/** Converts the pointers of an error to fields of the CloudEvent. */
function inCloudEvent(error: unknown, mode: Exclude<PublishMode, "own">): unknown {
  if (!(error instanceof ProblemError || isPosthornError(error))) return error;
  const problem = problemOf(error);
  const fieldErrors = problem.fieldErrors.map((place): FieldError => {
    if (!("pointer" in place)) return place;
    return placeOf({ place: cloudEventPlace(place.pointer, mode), message: place.message });
  });
  return new ProblemError({ ...problem, fieldErrors });
}

function onlyForCloudEvents(): HttpError {
  const message =
    "This parameter is only for CloudEvents, with Content-Type: application/cloudevents+json. Other events name their " +
    "tenant in the field tenant.";
  return new HttpError("invalid_parameter", message, { fieldErrors: [{ parameter: "tenant", message }] });
}

function accepted(body: string, isReplay: boolean): JsonText {
  return new JsonText(body, isReplay ? ["Idempotency-Replayed", "true"] : []);
}

/** Throws if a key of one tenant publishes for another. */
function checkTenants({ tenant }: Principal, events: EventsInput): void {
  if (tenant === null) return;
  if (events.kind === "user") throw cannotPublishForUser();
  const inputs = events.kind === "one" ? [events.input] : events.inputs;
  if (inputs.some((input) => input.tenant !== tenant)) throw otherTenant();
}

function resultJson({ id, sequence, duplicate, deliveries, dropped }: PublishResult): string {
  const more = dropped ? ',"dropped":true' : "";
  return `{"id":"${id}","sequence":${sequence},"duplicate":${duplicate},"deliveries":${deliveries}${more}}`;
}

/** The quoted form of the IETF draft and the usual bare form are the same key. */
function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (typeof header !== "string" || header === "") return undefined;
  return /^"[^"\\]+"$/.test(header) ? header.slice(1, -1) : header;
}

/** An invalid traceparent is ignored, as W3C Trace Context requires. */
function traceOf(traceparent: string | string[] | undefined): <Input extends object>(input: Input) => Input {
  return isTraceparent(traceparent) ? (input) => ({ ...input, traceparent }) : (input) => input;
}

function withKey<Input extends Pick<PublishInput, "idempotencyKey">>(
  input: Input,
  headerKey: string | undefined,
): Input {
  if (headerKey === undefined || headerKey === input.idempotencyKey) return input;
  if (input.idempotencyKey === undefined) return { ...input, idempotencyKey: headerKey };
  const message =
    "This differs from the Idempotency-Key header. Send one of them, or the same value in both.";
  throw invalidBody([{ pointer: "/idempotency_key", message }]);
}

/** If one event is invalid, none of the array is published. */
async function publishAll(hooks: Posthorn, inputs: readonly PublishInput[]): Promise<string> {
  const outcomes = await hooks.publishMany(inputs);
  if (outcomes.every(isPublished)) return `[${outcomes.map(({ result }) => resultJson(result)).join(",")}]`;
  throw refusal(outcomes);
}

function isPublished(outcome: PublishOutcome): outcome is Extract<PublishOutcome, { ok: true }> {
  return outcome.ok;
}

/** Reports every failed item. If some were published, the results are listed, so that none is sent twice. */
function refusal(outcomes: readonly PublishOutcome[]): ProblemError {
  const fieldErrors: FieldError[] = [];
  const errors: PosthornError[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.ok) continue;
    errors.push(outcome.error);
    const { problems, message } = outcome.error;
    if (problems.length === 0) fieldErrors.push({ pointer: `/${index}`, message: apiText(message) });
    for (const problem of problems) {
      const pointer = `/${index}${apiPointer(problem.pointer)}`;
      fieldErrors.push({ pointer, message: apiText(problem.message) });
    }
  }
  const results = outcomes.map((outcome) => (outcome.ok ? outcome.result : null));
  const published = results.filter((result) => result !== null).length;
  const detail = isUncertain(errors)
    ? `The database did not respond in time. It is unknown whether ${errors.length} events are stored. Publish them again with the same idempotency_key.`
    : published === 0
      ? `${errors.length} of ${outcomes.length} events cannot be published, so none was. See errors.`
      : `${published} of ${outcomes.length} events were published, ${errors.length} were not. See results and errors.`;
  return new ProblemError({
    ...problemOf(mostSevere(errors)),
    detail,
    fieldErrors,
    ...(published > 0 && { extensions: { results } }),
  });
}

/** After this error it is unknown whether the events were stored. */
function isUncertain(errors: readonly PosthornError[]): boolean {
  return errors.some(({ code }) => code === "database_unavailable");
}

/** Server errors before client errors; for different client errors, the general `invalid_event`. */
function mostSevere(errors: readonly PosthornError[]): unknown {
  const serverError = errors.find(({ status }) => status >= 500);
  const [first] = errors;
  if (serverError || errors.every(({ code }) => code === first?.code)) return serverError ?? first;
  return errors.find(({ code }) => code === "invalid_event") ?? first;
}
