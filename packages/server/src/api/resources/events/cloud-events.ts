// Reads published CloudEvents in structured, batch or binary mode, selected by the content type and the ce-* headers.
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
import { type FieldError, HttpError, invalidBody } from "../../http-error.ts";
import { parseJson } from "../../middleware/read-body.ts";
import { type EventsInput, scan } from "./input.ts";

export type PublishMode = "own" | "structured" | "batch" | "binary";

/** Binary mode uses the content type of the data, so it is recognised by the headers of required attributes. */
export function publishModeOf(headers: IncomingHttpHeaders): PublishMode {
  const contentType = headers["content-type"] ?? "";
  if (ANNOUNCED.test(contentType)) {
    const problem = formatProblem(contentType);
    if (problem !== null) throw new HttpError("unsupported_media_type", problem);
    return modeOf(contentType) === "batch" ? "batch" : "structured";
  }
  return REQUIRED_HEADERS.some((name) => headers[name] !== undefined) ? "binary" : "own";
}

// runs for every published event, so it is kept cheap
const ANNOUNCED = /^\s*application\/cloudevents/i;
const REQUIRED_HEADERS = REQUIRED_ATTRIBUTES.map((name) => `${BINARY_HEADER_PREFIX}${name}`);

/** `tenant` comes from the request or the key; if it is null, each event names its tenant in `tenantid`. */
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

/** Reports malformed JSON with the same error as everywhere else. */
function orMalformed<Content extends { readonly ok: boolean }>(body: Buffer, decoded: Content): Content {
  if (!decoded.ok) parseJson(body);
  return decoded;
}

function readBinary({ headersDistinct }: IncomingMessage, body: Buffer) {
  // checked before parsing
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
  "The tenant is missing. Set ?tenant= in the URL or the attribute tenantid, or use a key of the tenant.";

/** The form that another Posthorn writes; any other value of this extension is kept as an extension only. */
const API_VERSION = /^[A-Za-z0-9_.-]{1,32}$/;

const MAX_KEY_LENGTH = 256;

/** A key that would be too long is replaced by its digest. */
function keyOf(sourceAndId: string): string {
  const isShort = sourceAndId.length <= 2 * MAX_KEY_LENGTH && [...sourceAndId].length <= MAX_KEY_LENGTH;
  if (isShort) return sourceAndId;
  return `sha256:${createHash("sha256").update(sourceAndId).digest("hex")}`;
}

function refused(problems: readonly CloudEventProblem[]): HttpError {
  return invalidBody(problems.map(placeOf));
}

export function placeOf({ place, message }: CloudEventProblem): FieldError {
  return place === "" || place.startsWith("/") ? { pointer: place, message } : { header: place, message };
}

/**
 * Converts a pointer of the library to its place in a CloudEvent, where attributes are top-level members, or headers in
 * binary mode.
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
