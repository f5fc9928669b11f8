// `posthorn/internal`: what our own server shares with the library. Not for applications; it changes without notice.
export { resolveConfig as checkOptions } from "./config.ts";
export { RateBucket } from "./delivery/rate-bucket.ts";
export { buildRequest, type WebhookTarget } from "./destinations/webhook/build-request.ts";
export { signRequest } from "./destinations/webhook/signing/sign.ts";
export { addCompanions, digestOf, vendorStyleOf } from "./destinations/webhook/signing/vendor-style.ts";
export { MAX_PROBLEMS } from "./errors.ts";
export { maxPayloadBytes } from "./event/limits.ts";
export { CheckedJson, payloadTooLarge } from "./event/validate.ts";
export { matches } from "./fan-out/matches.ts";
export { PAYLOAD_FORMATS, type PayloadFormat } from "./model.ts";
export { isTraceparent } from "./observe/tracing.ts";
export { idOf, keyDigest, keyIdOf } from "./resources/access/key-text.ts";
export { SCOPES } from "./resources/access/keys.ts";
export {
  isByAdminKey,
  isGenuine,
  OPERATOR_SECONDS,
  PORTAL_SCOPES,
  PORTAL_SECONDS,
} from "./resources/access/sessions.ts";
export { isMailAddress } from "./resources/tenants/members.ts";
export { isTenantId } from "./resources/tenants/tenants.ts";
export { isUnavailable } from "./storage/database.ts";
export { statusOfNewDatabase } from "./storage/migrate.ts";
export type { KnownKey } from "./storage/queries/api-keys/key-row.ts";
export { type InstallationFacts, inspectInstallation } from "./storage/queries/installation/inspect.ts";
export { type DatabaseFacts, inspectDatabase } from "./storage/queries/metadata/inspect.ts";
export { MAX_PAGE_BYTES } from "./storage/queries/page-bytes.ts";
export type { SessionRow } from "./storage/queries/sessions/session-row.ts";
