// Every error a caller can meet, in one table: a stable code, the HTTP status the server answers with, and what it
// means. The message of an instance says what happened and what to do next.

export const errorRegistry = {
  invalid_event: { status: 422, meaning: "The event cannot be published as it is." },
  event_too_complex: { status: 422, meaning: "Checking the data against its schema would take too long." },
  payload_too_large: { status: 413, meaning: "The event's data is larger than the limit." },
  idempotency_conflict: { status: 422, meaning: "The idempotency key was used before with other content." },
  invalid_endpoint: { status: 422, meaning: "The endpoint's settings cannot be saved as they are." },
  endpoint_limit_reached: { status: 409, meaning: "The tenant has as many endpoints as it may have." },
  secret_not_found: { status: 404, meaning: "The endpoint has no such secret." },
  secret_in_use: { status: 409, meaning: "It is the secret that the endpoint signs with; rotate it first." },
  too_many_secrets: { status: 409, meaning: "The endpoint has as many valid secrets as it may have." },
  endpoint_disabled: { status: 409, meaning: "The endpoint is disabled, so nothing is sent to it." },
  endpoint_not_agreed: {
    status: 409,
    meaning: "The endpoint has not agreed to webhooks, so nothing is sent to it.",
  },
  endpoint_deleted: { status: 409, meaning: "The endpoint was deleted, so nothing is sent to it any more." },
  endpoint_is_subscription: {
    status: 409,
    meaning: "The endpoint is a WebSub subscription: it can be read and deleted, not changed.",
  },
  invalid_tenant: { status: 422, meaning: "The tenant's settings cannot be saved as they are." },
  invalid_member: { status: 422, meaning: "The member cannot be saved as it is." },
  invalid_event_type: { status: 422, meaning: "The event type cannot be saved as it is." },
  export_too_large: { status: 422, meaning: "The event types are too many for one document." },
  event_type_limit_reached: { status: 409, meaning: "The catalogue has as many event types as it may have." },
  invalid_key: { status: 422, meaning: "The key or token cannot be made as it is." },
  key_limit_reached: {
    status: 409,
    meaning: "The tenant has as many keys, or the member as many tokens, as may be.",
  },
  invalid_portal_link: { status: 422, meaning: "The portal link cannot be made as it is." },
  portal_link_not_found: { status: 404, meaning: "There is no such portal link in this tenant." },
  invalid_query: { status: 422, meaning: "A filter, limit or cursor of a list is not valid." },
  tenant_not_found: { status: 404, meaning: "There is no such tenant." },
  tenant_inactive: { status: 409, meaning: "The tenant is inactive, so nothing is sent to its endpoints." },
  tenant_deleted: { status: 409, meaning: "The tenant was deleted, and its id is kept with its history." },
  tenant_not_empty: { status: 409, meaning: "The tenant still has endpoints." },
  member_not_found: { status: 404, meaning: "There is no such member in this tenant." },
  key_not_found: { status: 404, meaning: "There is no such key." },
  event_type_not_found: { status: 404, meaning: "There is no such event type." },
  endpoint_not_found: { status: 404, meaning: "There is no such endpoint in this tenant." },
  event_not_found: { status: 404, meaning: "There is no such event." },
  delivery_not_found: { status: 404, meaning: "There is no such delivery." },
  attempt_not_found: { status: 404, meaning: "The delivery has no such attempt." },
  request_not_made: { status: 409, meaning: "The endpoint's settings of now make no valid request." },
  delivery_in_flight: { status: 409, meaning: "The delivery is being sent right now." },
  delivery_over: { status: 409, meaning: "The delivery has ended: it was delivered, or is dead." },
  delivery_not_dead: { status: 409, meaning: "The delivery is not dead, and only dead ones are deleted." },
  invalid_replay: { status: 422, meaning: "The replay cannot be started as it is." },
  replay_not_found: { status: 404, meaning: "There is no such replay." },
  replay_over: { status: 409, meaning: "The replay has ended: it is finished, or was cancelled." },
  replay_limit_reached: { status: 409, meaning: "As many replays are running as may run at a time." },
  invalid_websub_request: { status: 400, meaning: "The request to the WebSub hub cannot be taken as it is." },
  websub_off: { status: 404, meaning: "This installation is no WebSub hub." },
  websub_topic_not_found: { status: 404, meaning: "There is no such topic, or it is not open to everybody." },
  websub_busy: { status: 429, meaning: "As many requests to the WebSub hub are waiting as may wait." },
  encryption_key_missing: {
    status: 500,
    meaning: "A key needed to read or write endpoint secrets is not in the key ring.",
  },
  secret_unreadable: {
    status: 500,
    meaning: "A stored secret does not decrypt: it was changed or moved, or its key was.",
  },
  invalid_config: { status: 500, meaning: "A setting is unknown or has a value that cannot be used." },
  not_a_transaction: { status: 500, meaning: "What was passed as `tx` is not an open transaction." },
  schema_missing: { status: 503, meaning: "The database has not been migrated." },
  schema_too_new: { status: 503, meaning: "The database was migrated by a newer Posthorn." },
  schema_changed: { status: 503, meaning: "A migration that was applied is not the one this Posthorn has." },
  database_unavailable: { status: 503, meaning: "The database cannot be reached or written to right now." },
  overloaded: {
    status: 503,
    meaning: "More calls are waiting for the database, or more answers to be read, than may wait.",
  },
  stopped: { status: 503, meaning: "This Posthorn was stopped and takes nothing more." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorRegistry;

/** One place in the input that is wrong. `pointer` is a JSON Pointer into it. */
export interface InputProblem {
  readonly pointer: string;
  readonly message: string;
}

/** Whoever has made so many mistakes is told of these first. Finding more takes time from everybody else. */
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
