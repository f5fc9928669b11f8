// Every error of the library: a stable code, the HTTP status of the server's response, and its meaning. The message of
// an instance says what happened and what to do.

export const errorRegistry = {
  invalid_event: { status: 422, meaning: "The event is not valid." },
  event_too_complex: { status: 422, meaning: "Checking the data against its schema would take too long." },
  payload_too_large: { status: 413, meaning: "The event's data is larger than the limit." },
  idempotency_conflict: {
    status: 422,
    meaning: "The idempotency key was already used with different content.",
  },
  invalid_endpoint: { status: 422, meaning: "The endpoint's settings are not valid." },
  endpoint_limit_reached: { status: 409, meaning: "The tenant has reached its maximum number of endpoints." },
  secret_not_found: { status: 404, meaning: "The endpoint has no such secret." },
  secret_in_use: { status: 409, meaning: "The endpoint signs with this secret; rotate it first." },
  too_many_secrets: { status: 409, meaning: "The endpoint has reached its maximum number of valid secrets." },
  endpoint_disabled: { status: 409, meaning: "The endpoint is disabled, so nothing is sent to it." },
  endpoint_not_agreed: {
    status: 409,
    meaning: "The endpoint has not agreed to receive webhooks, so nothing is sent to it.",
  },
  endpoint_deleted: { status: 409, meaning: "The endpoint was deleted, so nothing is sent to it." },
  endpoint_is_subscription: {
    status: 409,
    meaning: "The endpoint is a WebSub subscription, which can be read and deleted but not changed.",
  },
  invalid_tenant: { status: 422, meaning: "The tenant's settings are not valid." },
  invalid_member: { status: 422, meaning: "The member is not valid." },
  invalid_event_type: { status: 422, meaning: "The event type is not valid." },
  export_too_large: { status: 422, meaning: "There are too many event types for one document." },
  event_type_limit_reached: {
    status: 409,
    meaning: "The catalogue has reached its maximum number of event types.",
  },
  invalid_key: { status: 422, meaning: "The key or token is not valid." },
  key_limit_reached: {
    status: 409,
    meaning: "The tenant has reached its maximum number of keys, or the member of tokens.",
  },
  invalid_portal_link: { status: 422, meaning: "The portal link is not valid." },
  portal_link_not_found: { status: 404, meaning: "The tenant has no such portal link." },
  invalid_query: { status: 422, meaning: "A filter, limit or cursor of a list is not valid." },
  tenant_not_found: { status: 404, meaning: "There is no such tenant." },
  tenant_inactive: { status: 409, meaning: "The tenant is inactive, so nothing is sent to its endpoints." },
  tenant_deleted: {
    status: 409,
    meaning: "The tenant was deleted; its id is reserved because its history refers to it.",
  },
  tenant_not_empty: { status: 409, meaning: "The tenant still has endpoints." },
  member_not_found: { status: 404, meaning: "The tenant has no such member." },
  key_not_found: { status: 404, meaning: "There is no such key." },
  event_type_not_found: { status: 404, meaning: "There is no such event type." },
  endpoint_not_found: { status: 404, meaning: "The tenant has no such endpoint." },
  event_not_found: { status: 404, meaning: "There is no such event." },
  delivery_not_found: { status: 404, meaning: "There is no such delivery." },
  attempt_not_found: { status: 404, meaning: "The delivery has no such attempt." },
  request_not_made: {
    status: 409,
    meaning: "The endpoint's current settings do not produce a valid request.",
  },
  delivery_in_flight: { status: 409, meaning: "The delivery is in flight." },
  delivery_over: { status: 409, meaning: "The delivery has ended: it succeeded or is dead." },
  delivery_not_dead: { status: 409, meaning: "Only dead deliveries can be deleted." },
  invalid_replay: { status: 422, meaning: "The replay is not valid." },
  replay_not_found: { status: 404, meaning: "There is no such replay." },
  replay_over: { status: 409, meaning: "The replay has finished or was cancelled." },
  replay_limit_reached: { status: 409, meaning: "The maximum number of replays is already running." },
  invalid_websub_request: { status: 400, meaning: "The request to the WebSub hub is not valid." },
  websub_off: { status: 404, meaning: "The WebSub hub is not enabled." },
  websub_topic_not_found: { status: 404, meaning: "There is no such topic, or it is not public." },
  websub_busy: { status: 429, meaning: "Too many requests to the WebSub hub are pending." },
  encryption_key_missing: {
    status: 500,
    meaning: "An encryption key that endpoint secrets need is not configured.",
  },
  secret_unreadable: {
    status: 500,
    meaning: "A stored secret cannot be decrypted: the secret or its key was changed.",
  },
  invalid_config: { status: 500, meaning: "A setting is unknown or has an invalid value." },
  not_a_transaction: { status: 500, meaning: "The value passed as `tx` is not an open transaction." },
  schema_missing: { status: 503, meaning: "The database has not been migrated." },
  schema_too_new: { status: 503, meaning: "The database was migrated by a newer Posthorn." },
  schema_changed: {
    status: 503,
    meaning: "An applied migration differs from the one in this version of Posthorn.",
  },
  database_unavailable: { status: 503, meaning: "The database is unreachable or read-only." },
  overloaded: {
    status: 503,
    meaning: "Too many calls are waiting for the database, or too many responses to be read.",
  },
  stopped: { status: 503, meaning: "This instance was stopped and accepts no more calls." },
} as const satisfies Record<string, { status: number; meaning: string }>;

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
