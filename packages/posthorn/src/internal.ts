// `posthorn/internal`: what our own server shares with the library. Not for applications; it changes without notice.
export { DeclaredTypes, entriesOf } from "./catalogue/declared-types.ts";
export type { CatalogueEntry } from "./catalogue/export-documents.ts";
export {
  CATALOGUE_MODES,
  numericOptions,
  optionNames,
  optionProblems,
} from "./config.ts";
export { buildRequest, type WebhookTarget } from "./destinations/webhook/build-request.ts";
export { signRequest } from "./destinations/webhook/sign.ts";
export { addCompanions, digestOf, vendorStyleOf } from "./destinations/webhook/vendor-style.ts";
export { hubNumbers } from "./destinations/websub/options.ts";
export { MAX_PROBLEMS } from "./errors.ts";
export { DEFAULT_API_VERSION, maxPayloadBytes } from "./event/limits.ts";
export { CheckedJson, payloadTooLarge } from "./event/validate.ts";
export { matches } from "./fan-out/matches.ts";
export {
  DELIVERY_MODES,
  type DeliveryMode,
  HUB_SIGNATURE_METHODS,
  PAYLOAD_FORMATS,
  type PayloadFormat,
} from "./model.ts";
export { isTraceparent, loadTracing } from "./observe/tracing.ts";
export type { NumericOption } from "./option-checks.ts";
export { idOf, keyDigest, keyIdOf } from "./resources/access/key-text.ts";
export type { RecordChange } from "./resources/access/record-change.ts";
export {
  isByAdminKey,
  isGenuine,
  OPERATOR_SECONDS,
  PORTAL_SECONDS,
} from "./resources/access/sessions.ts";
export { isMailAddress } from "./resources/tenants/members.ts";
export { isTenantId } from "./resources/tenants/tenants.ts";
export { isUnavailable } from "./storage/database-errors.ts";
export { generateEncryptionKey, parseKeyRing } from "./storage/key-ring.ts";
export { statusOfNewDatabase } from "./storage/migrate.ts";
export type { KnownKey } from "./storage/queries/api-keys.ts";
export {
  type DatabaseFacts,
  type InstallationFacts,
  inspectDatabase,
  inspectInstallation,
} from "./storage/queries/metadata/inspect.ts";
export { MAX_PAGE_BYTES } from "./storage/queries/page.ts";
export type { SessionRow } from "./storage/queries/sessions.ts";
export { unaudited } from "./unaudited.ts";
