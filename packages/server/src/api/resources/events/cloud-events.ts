// CloudEvents as they are published: in any of the three modes, by the content type and the ce-* headers of the request.
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  BINARY_HEADER_PREFIX,
  type CloudEvent,
  type CloudEventProblem,
  decodeBatch,
  decodeBinary,
  decodeStructured,
  eventPartsOf,
  formatProblem,
  modeOf,
  REQUIRED_ATTRIBUTES,
} from "@posthorn/wire";
import type { PublishInput } from "posthorn";
import { CheckedJson, isTraceparent, maxPayloadBytes, payloadTooLarge } from "posthorn/internal";
import { type FieldError, HttpError } from "../../http-error.ts";
import { invalidBody } from "../../input/invalid-body.ts";
import { parseJson } from "../../middleware/read-body.ts";
import { type EventsInput, scan } from "./input.ts";

export type PublishMode = "own" | "structured" | "batch" | "binary";

/** Binary mode has the content type of the data: it is known by the headers of its required attributes. */
export function publishModeOf(headers: IncomingHttpHeaders): PublishMode {
  const contentType = headers["content-type"] ?? "";
  if (ANNOUNCED.test(contentType)) {
    const problem = formatProblem(contentType);
    if (problem !== null) throw new HttpError("unsupported_media_type", problem);
    return modeOf(contentType) === "batch" ? "batch" : "structured";
  }
  return REQUIRED_HEADERS.some((name) => headers[name] !== undefined) ? "binary" : "own";
}

// asked of every event that is published, most of which are none
const ANNOUNCED = /^\s*application\/cloudevents/i;
const REQUIRED_HEADERS = REQUIRED_ATTRIBUTES.map((name) => `${BINARY_HEADER_PREFIX}${name}`);

/** `tenant`: whose they are, where the request says so or the key is of one; null: each says it itself by `tenantid`. */
export function readCloudEvents(
  mode: Exclude<PublishMode, "own">,
  request: IncomingMessage,
  body: Buffer,
  tenant: string | null,
): EventsInput {
  if (mode === "batch") return readBatch(body, tenant);
  const decoded = mode === "structured" ? readStructured(body) : readBinary(request, body);
  if (!decoded.ok) throw refused(decoded.problems);
  const problems: CloudEventProblem[] = [];
  const input = toInput(decoded.value, tenant, "", mode, problems);
  if (problems.length > 0) throw refused(problems);
  return { kind: "one", input };
}

function readStructured(body: Buffer) {
  scan(body);
  return orMalformed(body, decodeStructured(body));
}

function readBatch(body: Buffer, tenant: string | null): EventsInput {
  scan(body);
  const decoded = orMalformed(body, decodeBatch(body));
  if (!decoded.ok) throw refused(decoded.problems);
  const problems: CloudEventProblem[] = [];
  const inputs = decoded.value.map(({ event }, index) =>
    toInput(event, tenant, `/${index}`, "batch", problems),
  );
  if (problems.length > 0) throw refused(problems);
  return { kind: "many", inputs };
}

/** What is no JSON at all is told as it is everywhere. */
function orMalformed<Content extends { readonly ok: boolean }>(body: Buffer, decoded: Content): Content {
  if (!decoded.ok) parseJson(body);
  return decoded;
}

function readBinary({ headersDistinct }: IncomingMessage, body: Buffer) {
  // before it is parsed
  if (body.length > maxPayloadBytes) throw payloadTooLarge(body.length);
  const attributes = new Map<string, string>();
  const twice: CloudEventProblem[] = [];
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    const isAttribute = name.startsWith(BINARY_HEADER_PREFIX);
    if (isAttribute) attributes.set(name, values.join(", "));
    if (values.length > 1 && (isAttribute || name === "content-type"))
      twice.push({ place: name, message: "This header is given twice." });
  }
  const decoded = decodeBinary(attributes, headersDistinct["content-type"]?.[0] ?? null, body);
  return twice.length === 0
    ? decoded
    : ({ ok: false, problems: [...twice, ...(decoded.ok ? [] : decoded.problems)] } as const);
}

function toInput(
  event: CloudEvent,
  tenant: string | null,
  place: string,
  mode: Exclude<PublishMode, "own">,
  problems: CloudEventProblem[],
): PublishInput {
  const parts = eventPartsOf(event, place);
  const { tenantid, apiversion, traceparent } = event.extensions;
  const owner = tenant ?? tenantid;
  if (typeof owner !== "string") {
    const named = mode === "binary" ? `${BINARY_HEADER_PREFIX}tenantid` : `${place}/tenantid`;
    problems.push({ place: named, message: WHOSE });
  }
  if (!parts.ok) problems.push(...parts.problems);
  if (!parts.ok || typeof owner !== "string") return { tenant: "", type: "" };
  const { type, subject, key, payload, value, attributes } = parts.value;
  const isMeasured = mode !== "binary" || event.data.kind !== "json";
  return {
    tenant: owner,
    type,
    rawData: isMeasured ? new CheckedJson(payload, value) : payload,
    idempotencyKey: keyOf(key),
    attributes,
    ...(subject !== undefined && { subject }),
    ...(typeof apiversion === "string" && API_VERSION.test(apiversion) && { apiVersion: apiversion }),
    ...(isTraceparent(traceparent) && { traceparent }),
  };
}

const WHOSE =
  "Say whose it is: by ?tenant= in the URL, by the attribute tenantid, or with a key of the tenant.";

/** As the envelope of another Posthorn says it; any other text under that name is the sender's own. */
const API_VERSION = /^[A-Za-z0-9_.-]{1,32}$/;

const MAX_KEY_LENGTH = 256;

/** What is longer than a key may be is known by its digest. */
function keyOf(sourceAndId: string): string {
  const isShort = sourceAndId.length <= 2 * MAX_KEY_LENGTH && [...sourceAndId].length <= MAX_KEY_LENGTH;
  if (isShort) return sourceAndId;
  return `sha256:${createHash("sha256").update(sourceAndId).digest("hex")}`;
}

function refused(problems: readonly CloudEventProblem[]): HttpError {
  return invalidBody(problems.map(placeOf));
}

function placeOf({ place, message }: CloudEventProblem): FieldError {
  return place === "" || place.startsWith("/") ? { pointer: place, message } : { header: place, message };
}

/**
 * Where the library's word for a place is in a CloudEvent: attributes stand beside `type` there, and in binary mode they are
 * headers.
 */
export function cloudEventPlace(pointer: string, mode: Exclude<PublishMode, "own">): string {
  const [, member = "", path = ""] = /^(\/\d+(?=\/|$))?(.*)$/s.exec(pointer) ?? [];
  const inEvent = path
    .replace(/^\/attributes(?:\/extensions)?(?=\/|$)/, "")
    .replace(/^\/tenant$/, "/tenantid");
  return mode === "binary" && !inEvent.startsWith("/data") && inEvent !== ""
    ? `${BINARY_HEADER_PREFIX}${inEvent.slice(1)}`
    : `${member}${inEvent}`;
}
