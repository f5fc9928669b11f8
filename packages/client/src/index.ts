// The REST contract of Posthorn: schemas, OpenAPI, and the typed client.
export { ROLE_SCOPES, type Role, SCOPES, type Scope } from "@posthorn/wire";
export { type ClientOptions, pathParamsOf } from "./call.ts";
export { createClient, type PosthornClient } from "./client.ts";
export type { Activity } from "./contract/activity.ts";
export type { AuditEntry } from "./contract/audit-log.ts";
export { contract, type PosthornContract } from "./contract/contract.ts";
export type {
  Attempt,
  DeadLetterCount,
  DeletedDeadLetters,
  Delivery,
  DeliveryDetail,
  DeliveryRequest,
  WaitsFor,
} from "./contract/deliveries.ts";
export type { DeliveryContract } from "./contract/delivery-contracts.ts";
export type { DeliveryMode } from "./contract/delivery-mode.ts";
export type { Endpoint } from "./contract/endpoints/endpoint.ts";
export type { EndpointAttempt, EndpointSecret } from "./contract/endpoints/endpoints.ts";
export type { EventType, EventTypeDetail } from "./contract/event-types.ts";
export type {
  Event,
  EventDetail,
  EventOutcome,
  ListedEvent,
  NotMatched,
  RejectedCount,
} from "./contract/events.ts";
export { EXPORT_FORMATS, type ExportFormat } from "./contract/exports.ts";
export type { Key } from "./contract/keys.ts";
export type { Member } from "./contract/members.ts";
export type {
  BodyOf,
  Contract,
  Method,
  Operation,
  PathParams,
  Permission,
  QueryOf,
  ResponseOf,
} from "./contract/operation.ts";
export type { PortalLink } from "./contract/portal-links.ts";
export type { Replay, ReplayPreview } from "./contract/replays.ts";
export type { Resend } from "./contract/resends.ts";
export type { Session } from "./contract/session.ts";
export type { Source } from "./contract/sources.ts";
export type { Stats } from "./contract/stats.ts";
export type { System } from "./contract/system.ts";
export type { Tenant } from "./contract/tenants.ts";
export { PosthornApiError, PosthornConnectionError, type Problem, problemOf } from "./errors.ts";
export { openApi, operationsOf } from "./open-api.ts";
export { pages } from "./pages.ts";
export { parseResponse } from "./parse-response.ts";
