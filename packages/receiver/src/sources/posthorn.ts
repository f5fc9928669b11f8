// What Posthorn sends: its envelope, thin, or the bare data, and CloudEvents.
import {
  type CloudEventData,
  headerNames,
  isJsonType,
  isObject,
  modeOf,
  parseId,
  readData,
  readJson,
} from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { Authentic } from "../model.ts";
import { rejectUnknownOptions } from "../options.ts";
import type { Parsed, ParsedEvent, Source } from "../source.ts";
import { BINARY_HEADERS, parseBinaryCloudEvent, parseCloudEvents, valueFrom } from "./cloud-events.ts";
import { authenticator, type CloudEventsOptions, isBinary } from "./signing-source.ts";

export interface PosthornSourceOptions extends CloudEventsOptions {
  /** `X-Webhook` unless the installation has another. */
  readonly headerPrefix?: string | undefined;
  /** The endpoint's signature schemes. Default: all that sign a time. `sha256` signs none, so ask for it by name. */
  readonly schemes?: readonly string[] | undefined;
}

const optionNames = [
  "secrets",
  "name",
  "format",
  "headerPrefix",
  "schemes",
] as const satisfies readonly (keyof PosthornSourceOptions)[];

// Those that sign the id first: bare data has it nowhere else.
const TIMED_SCHEMES = ["standard-webhooks", "standard-webhooks-v1a", "t-v1", "two-headers"];

/** An endpoint of Posthorn. `secrets` are the endpoint's, `whsec_…` (or `whpk_…`). The id is the event's, which is signed. */
export function posthorn(options: PosthornSourceOptions): Source {
  rejectUnknownOptions("posthorn()", options, optionNames);
  const { headerPrefix, schemes = TIMED_SCHEMES, name = "posthorn" } = options;
  const { event: eventHeader } = headerNames(headerPrefix);
  const isInHeaders = isBinary("posthorn", options);
  return {
    name,
    ...authenticator("posthorn", options, schemes, headerPrefix),
    parsedHeaders: isInHeaders ? BINARY_HEADERS : [eventHeader.toLowerCase(), "content-type"],
    hasStableBody: true,
    supportsRetryLater: true,
    parse: (authentic) =>
      isInHeaders ? onlyWithSignedId(authentic, parseBinaryCloudEvent) : parse(authentic, eventHeader),
  };
}

/** What the bytes say they are comes before the content type, which is not signed: that is asked of bare data alone. */
function parse(authentic: Authentic, eventHeader: string): Parsed {
  const json = readJson(authentic.body);
  const other = otherData(authentic);
  if (typeof other === "string") return { kind: "malformed", reason: other };
  if (json.ok || other === null) {
    const parsed = onlyWithSignedId(authentic, parseCloudEvents);
    if (parsed !== null) return parsed;
  }
  const payload = json.ok ? json.value : undefined;
  const event =
    readEnvelope(authentic, payload) ??
    readBareData(
      authentic,
      other === null ? payload : valueFrom(other),
      readHeader(authentic.headers, eventHeader),
    );
  return typeof event === "string"
    ? { kind: "malformed", reason: event }
    : { kind: "events", events: [event] };
}

/** Data that is no JSON, by its content type; null where it is. */
function otherData({ headers, body }: Authentic): CloudEventData | string | null {
  const contentType = readHeader(headers, "content-type");
  const isJson = isJsonType(contentType) || modeOf(contentType) !== "binary";
  return isJson && body.length > 0 ? null : readData(contentType, body);
}

/** Otherwise who takes away one of two signatures would change the id from the signed one to the event's own. */
function onlyWithSignedId<Read extends Parsed | null>(
  authentic: Authentic,
  read: (authentic: Authentic) => Read,
) {
  const parsed = read(authentic);
  const isUnnamed = authentic.signedId === null && parsed?.kind === "events";
  return isUnnamed ? ({ kind: "malformed", reason: ID_NOT_SIGNED } as const) : parsed;
}

/** Null for bare data, which may be an envelope of something else: then its id is not the one that was signed. */
function readEnvelope({ signedId }: Authentic, payload: unknown): ParsedEvent | string | null {
  const {
    id,
    type,
    subject = null,
    sequence = null,
    created_at: createdAt,
    data,
  } = isObject(payload) ? payload : {};
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

function readBareData({ signedId }: Authentic, payload: unknown, type: string | null): ParsedEvent | string {
  if (signedId === null) {
    return ID_NOT_SIGNED;
  }
  if (type === null) return "There is no header that says its type.";
  return { id: signedId, type, subject: null, sequence: null, createdAt: null, data: payload, payload };
}

const ID_NOT_SIGNED =
  "Its id is neither in the body nor signed; let the endpoint sign by standard-webhooks or send the envelope.";

function validDate(text: string): Date | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}
