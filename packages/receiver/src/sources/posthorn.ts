// Requests from Posthorn: the envelope, thin or bare data, and CloudEvents.
import {
  type CloudEventData,
  type EnvelopeField,
  type EnvelopeNames,
  envelopeNameProblems,
  headerNames,
  isJsonType,
  isObject,
  modeOf,
  parseId,
  readData,
  readJson,
} from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { VerifiedRequest } from "../model.ts";
import { rejectUnknownOptions } from "../options.ts";
import type { Parsed, ParsedEvent, Source } from "../source.ts";
import { BINARY_HEADERS, parseBinaryCloudEvent, parseCloudEvents, valueFrom } from "./cloud-events.ts";
import {
  authenticator,
  type CloudEventsOptions,
  isBinary,
  type KeyEncoding,
  keysOf,
} from "./signing-source.ts";

export interface PosthornSourceOptions extends CloudEventsOptions {
  /** Default `X-Webhook`. */
  readonly headerPrefix?: string | undefined;
  /** The endpoint's signature schemes. Default: all that sign a timestamp; `sha256` does not and must be named. */
  readonly schemes?: readonly string[] | undefined;
  /** The endpoint's `secret_encoding`, if its secret is that of another sender. Default: `whsec_…`. */
  readonly secretEncoding?: KeyEncoding | undefined;
  /** The endpoint's `envelope_fields`: other names of the envelope's fields, such as `{ tenant_id: "team_id" }`. */
  readonly envelopeFields?: EnvelopeNames | undefined;
  /**
   * `header`: use the id in `X-Webhook-Id` if neither a signature nor the envelope contains one, as for bare data signed with `t-v1` or
   * `sha256`. Then a captured request can be sent again under another id, with `sha256` at any time.
   */
  readonly id?: "header" | undefined;
}

const optionNames = [
  "secrets",
  "name",
  "format",
  "headerPrefix",
  "schemes",
  "secretEncoding",
  "envelopeFields",
  "id",
] as const satisfies readonly (keyof PosthornSourceOptions)[];

// Schemes that sign the id come first: bare data has no other id.
const TIMED_SCHEMES = ["standard-webhooks", "standard-webhooks-v1a", "t-v1", "two-headers"];

/**
 * An endpoint of Posthorn. `secrets` are the endpoint's: `whsec_…`, `whpk_…`, or any other text or bytes. The id is the event's, which is
 * signed. For senders other than Posthorn use `hmac()`: this source answers 409 where a later delivery is needed.
 */
export function posthorn(options: PosthornSourceOptions): Source {
  rejectUnknownOptions("posthorn()", options, optionNames);
  const { headerPrefix, schemes = TIMED_SCHEMES, name = "posthorn", secretEncoding, id } = options;
  const { envelopeFields = {} } = options;
  for (const { message } of envelopeNameProblems(envelopeFields))
    throw new TypeError(`\`envelopeFields\` of posthorn(): ${message}`);
  if (id !== undefined && id !== "header")
    throw new TypeError('`id` of posthorn() must be "header", or omitted.');
  const secrets =
    secretEncoding === undefined ? options.secrets : keysOf("posthorn", options.secrets, secretEncoding);
  const { event: eventHeader, id: idHeader } = headerNames(headerPrefix);
  /** The request with an id, signed or not. */
  const named = (verified: VerifiedRequest): VerifiedRequest =>
    id === undefined || verified.signedId !== null
      ? verified
      : { ...verified, signedId: readHeader(verified.headers, idHeader) };
  const isInHeaders = isBinary("posthorn", options);
  return {
    name,
    ...authenticator("posthorn", { secrets }, schemes, headerPrefix),
    parsedHeaders: isInHeaders ? BINARY_HEADERS : [eventHeader.toLowerCase(), "content-type"],
    hasStableBody: true,
    retryLaterStatus: 409,
    parse: (verified) =>
      isInHeaders
        ? onlyWithSignedId(named(verified), parseBinaryCloudEvent)
        : parse(verified, named(verified), { eventHeader, envelopeFields }),
  };
}

/**
 * The bytes decide before the content type, which is not signed and matters only for bare data. An envelope has its own id, so that
 * an unsigned one does not change it.
 */
function parse(
  verified: VerifiedRequest,
  named: VerifiedRequest,
  { eventHeader, envelopeFields }: { readonly eventHeader: string; readonly envelopeFields: EnvelopeNames },
): Parsed {
  const json = readJson(verified.body);
  const other = otherData(verified);
  if (typeof other === "string") return { kind: "malformed", reason: other };
  if (json.ok || other === null) {
    const parsed = onlyWithSignedId(named, () => parseCloudEvents(named, json));
    if (parsed !== null) return parsed;
  }
  const payload = json.ok ? json.value : undefined;
  const event =
    readEnvelope(verified, payload, envelopeFields) ??
    readBareData(
      named,
      other === null ? payload : valueFrom(other),
      readHeader(verified.headers, eventHeader),
    );
  return typeof event === "string"
    ? { kind: "malformed", reason: event }
    : { kind: "events", events: [event] };
}

/** Data that is not JSON according to its content type; null if it is JSON. */
function otherData({ headers, body }: VerifiedRequest): CloudEventData | string | null {
  const contentType = readHeader(headers, "content-type");
  const isJson = isJsonType(contentType) || modeOf(contentType) !== "binary";
  return isJson && body.length > 0 ? null : readData(contentType, body);
}

/** Otherwise an attacker who removes one of two signatures could change the id from the signed one to the event's own. */
function onlyWithSignedId<Read extends Parsed | null>(
  verified: VerifiedRequest,
  read: (verified: VerifiedRequest) => Read,
) {
  const parsed = read(verified);
  const isUnnamed = verified.signedId === null && parsed?.kind === "events";
  return isUnnamed ? ({ kind: "malformed", reason: ID_NOT_SIGNED } as const) : parsed;
}

/** Null for bare data, which may itself look like an envelope: then its id is not the signed one. */
function readEnvelope(
  { signedId }: VerifiedRequest,
  payload: unknown,
  names: EnvelopeNames,
): ParsedEvent | string | null {
  const fields = isObject(payload) ? payload : {};
  const field = (name: EnvelopeField): unknown => fields[names[name] ?? name];
  const [id, type, data, createdAt] = [field("id"), field("type"), field("data"), field("created_at")];
  const [subject, sequence] = [field("subject") ?? null, field("sequence") ?? null];
  if (typeof id !== "string" || typeof type !== "string") return null;
  if (signedId === null ? parseId("evt", id) === null : id !== signedId) return null;
  if (sequence !== null && typeof sequence !== "number") return "The sequence is not a number.";
  return {
    id,
    type,
    subject: typeof subject === "string" ? subject : null,
    sequence,
    createdAt: typeof createdAt === "string" ? validDate(createdAt) : null,
    data,
    payload,
  };
}

function readBareData(
  { signedId }: VerifiedRequest,
  payload: unknown,
  type: string | null,
): ParsedEvent | string {
  if (signedId === null) {
    return ID_NOT_SIGNED;
  }
  if (type === null) return "There is no header with its type.";
  return { id: signedId, type, subject: null, sequence: null, createdAt: null, data: payload, payload };
}

const ID_NOT_SIGNED =
  "Its id is neither in the body nor signed. Set the endpoint to sign with standard-webhooks, or to send the envelope; or accept the unsigned header with `id`.";

function validDate(text: string): Date | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}
