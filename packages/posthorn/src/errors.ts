// Every error of the library: a stable code, the HTTP status of the server's response, and its meaning. The message of
// an instance says what happened and what to do.

export const errorRegistry = {
  invalid_event: error(422, "The event is not valid."),
  event_too_complex: error(422, "Checking the data against its schema would take too long."),
  payload_too_large: error(413, "The event's data is larger than the limit."),
  idempotency_conflict: error(422, "The idempotency key was already used with different content."),
  invalid_endpoint: error(422, "The endpoint's settings are not valid."),
  endpoint_limit_reached: error(409, "The tenant has reached its maximum number of endpoints."),
  secret_not_found: error(404, "The endpoint has no such secret."),
  secret_in_use: error(409, "The endpoint signs with this secret; rotate it first."),
  too_many_secrets: error(409, "The endpoint has reached its maximum number of valid secrets."),
  endpoint_disabled: error(409, "The endpoint is disabled, so nothing is sent to it."),
  endpoint_not_agreed: error(
    409,
    "The endpoint has not agreed to receive webhooks, so nothing is sent to it.",
  ),
  endpoint_deleted: error(409, "The endpoint was deleted, so nothing is sent to it."),
  event_redacted: error(
    409,
    "The catalogue redacts parts of the event, so only callers with payloads:read may edit it.",
  ),
  endpoint_is_subscription: error(
    409,
    "The endpoint is a WebSub subscription, which can be read and deleted but not changed.",
  ),
  invalid_tenant: error(422, "The tenant's settings are not valid."),
  invalid_member: error(422, "The member is not valid."),
  invalid_event_type: error(422, "The event type is not valid."),
  export_too_large: error(422, "There are too many event types for one document."),
  event_type_limit_reached: error(409, "The catalogue has reached its maximum number of event types."),
  invalid_key: error(422, "The key or token is not valid."),
  key_limit_reached: error(
    409,
    "The tenant has reached its maximum number of keys, or the member of tokens.",
  ),
  invalid_portal_link: error(422, "The portal link is not valid."),
  portal_link_not_found: error(404, "The tenant has no such portal link."),
  invalid_delivery_mode: error(422, "The mode of delivery is not valid."),
  invalid_query: error(422, "A filter, limit or cursor of a list is not valid."),
  tenant_not_found: error(404, "There is no such tenant."),
  tenant_inactive: error(409, "The tenant is inactive, so nothing is sent to its endpoints."),
  tenant_deleted: error(409, "The tenant was deleted; its id is reserved because its history refers to it."),
  tenant_not_empty: error(409, "The tenant still has endpoints."),
  member_not_found: error(404, "The tenant has no such member."),
  key_not_found: error(404, "There is no such key."),
  event_type_not_found: error(404, "There is no such event type."),
  endpoint_not_found: error(404, "The tenant has no such endpoint."),
  event_not_found: error(404, "There is no such event."),
  delivery_not_found: error(404, "There is no such delivery."),
  attempt_not_found: error(404, "The delivery has no such attempt."),
  request_not_built: error(409, "The endpoint's current settings do not produce a valid request."),
  event_rejected: error(
    409,
    "The catalogue rejected the event, so nothing of it is sent until it is released.",
  ),
  event_not_rejected: error(409, "Only rejected events can be released or discarded."),
  delivery_drops: error(
    409,
    "Delivery is off and drops events, so a released event would never be delivered.",
  ),
  delivery_in_flight: error(409, "The delivery is in flight."),
  delivery_finished: error(409, "The delivery has ended: it succeeded or is dead."),
  delivery_not_dead: error(409, "Only dead deliveries can be deleted."),
  invalid_replay: error(422, "The replay is not valid."),
  replay_not_found: error(404, "There is no such replay."),
  replay_finished: error(409, "The replay has finished or was cancelled."),
  replay_limit_reached: error(409, "The maximum number of replays is already running."),
  source_not_found: error(404, "There is no such source."),
  source_not_stopped: error(409, "The source has not stopped in a way that this could continue."),
  invalid_websub_request: error(400, "The request to the WebSub hub is not valid."),
  websub_disabled: error(404, "The WebSub hub is not enabled."),
  websub_topic_not_found: error(404, "There is no such topic, or it is not public."),
  websub_busy: error(429, "Too many requests to the WebSub hub are pending."),
  encryption_key_missing: error(500, "An encryption key that endpoint secrets need is not configured."),
  secret_unreadable: error(500, "A stored secret cannot be decrypted: the secret or its key was changed."),
  invalid_config: error(500, "A setting is unknown or has an invalid value."),
  not_a_transaction: error(500, "The value passed as `tx` is not an open transaction."),
  schema_missing: error(503, "The database has not been migrated."),
  schema_too_new: error(503, "The database was migrated by a newer Posthorn."),
  schema_changed: error(503, "An applied migration differs from the one in this version of Posthorn."),
  database_unavailable: error(503, "The database is unreachable or read-only."),
  overloaded: error(503, "Too many calls are waiting for the database, or too many responses to be read."),
  stopped: error(503, "This instance was stopped and accepts no more calls."),
};

function error(status: number, meaning: string) {
  return { status, meaning };
}

export type ErrorCode = keyof typeof errorRegistry;

/** One problem in the input. `pointer` is a JSON Pointer to it. */
export interface InputProblem {
  readonly pointer: string;
  readonly message: string;
}

/** Upper bound of reported problems; finding more takes time from other requests. */
export const MAX_PROBLEMS = 20;

export class PosthornError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly problems: readonly InputProblem[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { problems?: readonly InputProblem[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PosthornError";
    this.code = code;
    this.status = errorRegistry[code].status;
    this.problems = options.problems ?? [];
  }
}

/** Returns an error about one part of the input. */
export function problemAt(code: ErrorCode, pointer: string, message: string): PosthornError {
  return new PosthornError(code, message, { problems: [{ pointer, message }] });
}

/** Throws if there are problems. */
export function throwProblems(
  code: ErrorCode,
  problems: readonly InputProblem[],
  messageOf = ([first]: readonly InputProblem[]) => first?.message ?? "",
): void {
  if (problems.length > 0) throw new PosthornError(code, messageOf(problems), { problems });
}

export function allMessages(problems: readonly InputProblem[]): string {
  return problems.map(({ message }) => message).join(" ");
}
