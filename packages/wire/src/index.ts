// Everything that crosses the network, for the sender and the receiver alike.
export { BoundedMap } from "./bounded-map.ts";
export * from "./cloudevents/index.ts";
export { closest, didYouMean, expectedOneOf } from "./did-you-mean.ts";
export { concat, decode, encode } from "./encoding.ts";
export * from "./endpoint-settings/deployment-options.ts";
export * from "./endpoint-settings/presets.ts";
export * from "./endpoint-settings/retry-schedule.ts";
export * from "./endpoint-settings/setting.ts";
export * from "./endpoint-settings/settings.ts";
export {
  ENVELOPE_FIELDS,
  type EnvelopeField,
  type EnvelopeFields,
  type EnvelopeNames,
  envelope,
  envelopeNameProblems,
  thinEnvelope,
} from "./envelope.ts";
export { DATA_ENCODINGS, type DataEncoding, type EventAttributes } from "./event-attributes.ts";
export * from "./headers.ts";
export { formatId, type IdKind, lowestUuidAt, parseId, uuidTimeMs, uuidv7 } from "./ids.ts";
export { isObject } from "./json/is-object.ts";
export { escapePointer, unescapePointer } from "./json/pointer.ts";
export {
  MAX_MEMBERS,
  namesWritten,
  type RawDocument,
  type RawItem,
  type RawMembers,
  rawItems,
  rawMembers,
  rawValueAt,
  TooDeepError,
  TooManyMembersError,
} from "./json/raw-members.ts";
export { type Json, readJson } from "./json/read-json.ts";
export * from "./letter-case.ts";
export { hostOf, parseUrl } from "./parse-url.ts";
export * from "./scopes.ts";
export {
  generateSecret,
  generateSigningKey,
  importedKey,
  MAX_SECRET_BYTES,
  type ParsedSecret,
  parseSecret,
  rawSecret,
  SECRET_ENCODINGS,
  type SecretEncoding,
} from "./secrets.ts";
export { type ExaminedRequest, examine, type Finding, signedBy } from "./signature/examine.ts";
export { type Effort, type Explanation, explainFailure } from "./signature/explain.ts";
export * as signatureFormats from "./signature/formats.ts";
export { type KeyKind, type Secret, signingKeyBytes, verifyingKeyBytes } from "./signature/keys.ts";
export { messageComponents } from "./signature/message-signatures.ts";
export { sha256HexOf } from "./signature/own-crypto.ts";
export { type HeaderSource, isMessageId, valuesOf } from "./signature/read-signature.ts";
export type { Algorithm, Companion, Scheme, SignedMessage, SignedPart } from "./signature/scheme.ts";
export * from "./signature/schemes.ts";
export { type SignInput, sign, signText } from "./signature/sign.ts";
export { readTimeMs, type TimeFormat, writeTime } from "./signature/time.ts";
export { type SignatureVector, signatureVectors } from "./signature/vectors.ts";
export * from "./signature/verify.ts";
export { signedContents } from "./signature/web-crypto.ts";
export { writeSignatureHeaders } from "./signature/write-headers.ts";
export type { Challenge, Path, Vendor, VendorField, VendorIdField } from "./vendors/vendor.ts";
export { type VendorName, vendors } from "./vendors/vendors.ts";
export { WAIT_REASONS, type WaitReason } from "./wait-reasons.ts";
