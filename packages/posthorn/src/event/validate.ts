// Turns a caller's input into an event that can be stored, or throws an error that lists every problem.
import { hash } from "node:crypto";
import { types } from "node:util";
import { type EventAttributes, uuidv7 } from "@posthorn/wire";
import { findUnknown } from "../did-you-mean.ts";
import { allMessages, type InputProblem, PosthornError, problemAt, throwProblems } from "../errors.ts";
import { SYSTEM_TYPE_PREFIX } from "../fan-out/matches.ts";
import type { Event } from "../model.ts";
import { isTraceparent } from "../observe/tracing.ts";
import { checkAttributes } from "./attributes.ts";
import { jsonDepth } from "./json-depth.ts";
import {
  apiVersionSyntax,
  apiVersionSyntaxInWords,
  DEFAULT_API_VERSION,
  maxDepth,
  maxIdempotencyKeyLength,
  maxPayloadBytes,
  maxSubjectLength,
  maxTypeLength,
  reservedTenant,
  reservedTenantInWords,
  tenantSyntax,
  tenantSyntaxInWords,
  typeSyntax,
} from "./limits.ts";

export interface PublishInput {
  /** Your own id of the customer the event belongs to. */
  readonly tenant: string;
  /** Lower-case words joined by dots, such as `order.paid`. */
  readonly type: string;
  /** Any JSON value. */
  readonly data?: unknown;
  /** The bytes of the JSON, kept as they are, instead of `data`. A Buffer is accepted. */
  readonly rawData?: Uint8Array | CheckedJson;
  /** Identifies what the event is about, such as an order id; events of one subject are numbered. */
  readonly subject?: string | undefined;
  /** Default: the option `apiVersion`, which is `1` unless configured. */
  readonly apiVersion?: string | undefined;
  /** A second publish with the same key returns the first event and creates nothing. */
  readonly idempotencyKey?: string | undefined;
  /** W3C `traceparent` of the trace it belongs to, if no OpenTelemetry span is active. Sent with its deliveries. */
  readonly traceparent?: string | undefined;
  /** Attributes from its origin, such as a CloudEvent's `source`, and the encoding of data that is not JSON. */
  readonly attributes?: EventAttributes | undefined;
}

/** JSON that was parsed and measured already: valid, and within the depth limit. */
export class CheckedJson {
  readonly bytes: Uint8Array;
  #value: unknown;

  constructor(bytes: Uint8Array, value?: unknown) {
    this.bytes = bytes;
    this.#value = value;
  }

  /** Returns the parsed value once, then undefined: events that wait for the database must not keep it in memory. */
  takeValue(): unknown {
    const value = this.#value;
    this.#value = undefined;
    return value;
  }
}

export interface ValidEvent {
  readonly event: Event;
  readonly idempotency: { readonly key: string; readonly digest: Buffer } | null;
}

const fields = [
  "tenant",
  "type",
  "data",
  "rawData",
  "subject",
  "apiVersion",
  "idempotencyKey",
  "traceparent",
  "attributes",
];

/** `apiVersion` is that of events that name none. */
export function validate(
  input: PublishInput,
  nowMs: number,
  apiVersion: string = DEFAULT_API_VERSION,
): ValidEvent {
  const problems: InputProblem[] = [];
  if (typeof input !== "object" || input === null) {
    throw new PosthornError("invalid_event", "An event is an object with tenant, type and data.");
  }
  checkNames(input, problems);
  findUnknown("An event has no field", input, fields, problems);
  const payload = readPayload(input, problems);
  if (payload !== null && payload.byteLength > maxPayloadBytes) {
    throw payloadTooLarge(payload.byteLength);
  }
  const { attributes } = input;
  if (attributes !== undefined && payload !== null) checkAttributes(attributes, payload, problems);
  throwProblems("invalid_event", problems, allMessages);
  const event: Event = {
    id: uuidv7(nowMs),
    tenant: input.tenant,
    type: input.type,
    apiVersion: input.apiVersion ?? apiVersion,
    subject: input.subject ?? null,
    sequence: null,
    // null only with a problem
    payload: payload as Buffer,
    createdAt: new Date(nowMs),
    traceparent: input.traceparent,
    attributes,
  };
  const key = input.idempotencyKey;
  return { event, idempotency: key === undefined ? null : { key, digest: digestOf(event) } };
}

export function payloadTooLarge(bytes: number, pointer = "/data"): PosthornError {
  const message = `The event's data has ${bytes} bytes; the limit is ${maxPayloadBytes}. Send a reference instead of the content.`;
  return problemAt("payload_too_large", pointer, message);
}

/** If any event is invalid, none is published; problems have pointers such as `/3/type`. */
export function validateAll(
  inputs: readonly PublishInput[],
  nowMs: number,
  apiVersion?: string,
): ValidEvent[] {
  if (!Array.isArray(inputs))
    throw new PosthornError(
      "invalid_event",
      "publishMany takes a list of events. Publish one with publish(event).",
    );
  const failures: Failure[] = [];
  const valid = inputs.flatMap((input, index) => {
    try {
      return [validate(input, nowMs, apiVersion)];
    } catch (error) {
      if (!(error instanceof PosthornError)) throw error;
      failures.push({ index, error });
      return [];
    }
  });
  if (failures.length > 0) throw noneOf(inputs.length, failures);
  return valid;
}

export interface Failure {
  readonly index: number;
  readonly error: PosthornError;
}

/** Builds the error for a list of which some events cannot be published. */
export function noneOf(total: number, failures: readonly Failure[]): PosthornError {
  const code = failures[0]?.error.code ?? "invalid_event";
  const isOfOneKind = failures.every(({ error }) => error.code === code);
  const problems = failures.flatMap(({ index, error }) => {
    const places = error.problems.length > 0 ? error.problems : [{ pointer: "", message: error.message }];
    return places.map((place) => ({ ...place, pointer: `/${index}${place.pointer}` }));
  });
  return new PosthornError(
    isOfOneKind ? code : "invalid_event",
    `${failures.length} of ${total} events cannot be published, so none was.`,
    { problems },
  );
}

function checkNames(input: PublishInput, problems: InputProblem[]): void {
  const wrong = (field: string, message: string): void => {
    problems.push({ pointer: `/${field}`, message });
  };
  const { tenant, type, subject, apiVersion, idempotencyKey, traceparent } = input;
  if (typeof tenant !== "string" || !tenantSyntax.test(tenant)) {
    wrong("tenant", `tenant must be ${tenantSyntaxInWords}`);
  } else if (tenant === reservedTenant) wrong("tenant", reservedTenantInWords);
  if (typeof type !== "string" || type.length > maxTypeLength || !typeSyntax.test(type)) {
    wrong(
      "type",
      `type must be lower-case words joined by dots, such as order.paid, at most ${maxTypeLength} characters.`,
    );
  } else if (type.startsWith(SYSTEM_TYPE_PREFIX)) {
    wrong(
      "type",
      `Types that begin with ${SYSTEM_TYPE_PREFIX} are Posthorn's own; give the event another type.`,
    );
  }
  checkText("subject", subject, maxSubjectLength, wrong);
  if (apiVersion !== undefined && (typeof apiVersion !== "string" || !apiVersionSyntax.test(apiVersion))) {
    wrong("apiVersion", `apiVersion must be ${apiVersionSyntaxInWords}.`);
  }
  checkText("idempotencyKey", idempotencyKey, maxIdempotencyKeyLength, wrong);
  if (traceparent !== undefined && !isTraceparent(traceparent)) {
    wrong("traceparent", "traceparent must be a W3C trace context: 00-<32 hex>-<16 hex>-<2 hex>.");
  }
}

function readPayload({ data, rawData }: PublishInput, problems: InputProblem[]): Buffer | null {
  const problem = rawData === undefined ? null : rawDataProblem(data, rawData);
  if (problem !== null) {
    problems.push({ pointer: "/rawData", message: problem });
    return null;
  }
  try {
    if (rawData instanceof CheckedJson) return ownCopy(rawData.bytes);
    const payload = rawData === undefined ? serialise(data) : checkRaw(rawData);
    if (jsonDepth(payload) > maxDepth)
      throw new Error(`it is nested deeper than ${maxDepth} levels; flatten it`);
    return payload;
  } catch (error) {
    problems.push({ pointer: "/data", message: `data cannot be published: ${(error as Error).message}.` });
    return null;
  }
}

function rawDataProblem(data: unknown, rawData: unknown): string | null {
  if (data !== undefined) return "data and rawData are both given; give one of them.";
  // not by class: a test runner may give each file its own Uint8Array
  if (rawData instanceof CheckedJson || types.isUint8Array(rawData)) return null;
  const kind = rawData === null ? "null" : `a value of type ${typeof rawData}`;
  return `rawData is ${kind}; pass bytes (Uint8Array or Buffer), such as Buffer.from(json).`;
}

function serialise(data: unknown): Buffer {
  if (data === undefined) throw new Error("it is missing; pass null for no data");
  let json: string | undefined;
  try {
    json = JSON.stringify(data);
  } catch (error) {
    throw new Error(reasonNotJson(error as Error), { cause: error });
  }
  if (json === undefined) throw new Error(`a ${typeof data} has no JSON; pass plain data`);
  return Buffer.from(json);
}

function reasonNotJson(error: Error): string {
  if (/BigInt/.test(error.message))
    return "it contains a BigInt, which JSON cannot represent; convert it to a string";
  if (/circular/i.test(error.message)) return "it refers to itself; pass plain data";
  if (error instanceof RangeError) return `it is nested deeper than ${maxDepth} levels; flatten it`;
  return error.message;
}

// Keeps a byte order mark, which is then rejected as invalid JSON.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function checkRaw(raw: Uint8Array): Buffer {
  // oversized payloads are rejected by size before they are parsed
  if (raw.byteLength <= maxPayloadBytes) JSON.parse(utf8.decode(raw));
  return ownCopy(raw);
}

/**
 * Copies the bytes: a slice of a request keeps its 64 KB read buffer alive, and a thousand waiting events would hold
 * 64 MB.
 */
function ownCopy(raw: Uint8Array): Buffer {
  return raw.buffer.byteLength > 2 * raw.byteLength
    ? Buffer.from(raw)
    : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
}

function checkText(
  field: string,
  value: unknown,
  maxLength: number,
  wrong: (field: string, message: string) => void,
): void {
  if (value === undefined) return;
  const isText = typeof value === "string" && value !== "" && !unstorable.test(value);
  if (!isText || lengthOf(value) > maxLength)
    wrong(field, `${field} must be 1 to ${maxLength} characters without control characters.`);
}

/** Counts characters as PostgreSQL does: a surrogate pair is one. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
}

/** PostgreSQL cannot store NUL, nor UTF-8 a lone surrogate; other control characters in a name are a mistake. */
const unstorable = /\p{Cc}|\p{Cs}/u;

/** posthorn.publish computes the same in SQL, for JSON only. */
function digestOf(event: Event): Buffer {
  // "QUJD" as JSON, as text and as three bytes are different data; no JSON begins with the name of an encoding
  const encoding = event.attributes?.encoding === undefined ? "" : `${event.attributes.encoding}\n`;
  const head = Buffer.from(`${event.type}\n${event.apiVersion}\n${event.subject ?? ""}\n${encoding}`);
  return hash("sha256", Buffer.concat([head, event.payload]), "buffer");
}
