// Generators of all kinds of CloudEvents, and a normal form to compare them.
import { type CloudEvent, type CloudEventData, dataBytes, readJson } from "@posthorn/wire";
import fc from "fast-check";

const RESERVED =
  /^(data|id|source|type|specversion|subject|time|datacontenttype|dataschema|sequence|sequencetype|partitionkey|traceparent|tenantid|apiversion)$/;

const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .filter((value) => !/\p{Cc}|\p{Noncharacter_Code_Point}|\p{Surrogate}/u.test(value));

const name = fc.stringMatching(/^[a-z0-9]{1,20}$/).filter((value) => !RESERVED.test(value));

const json = fc
  .oneof(
    fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
    fc.constantFrom("0", "1.0", "12345678901234567890"),
  )
  .map((written): CloudEventData => ({ kind: "json", json: new TextEncoder().encode(written) }));
const textData = text.map((value): CloudEventData => ({ kind: "text", text: value }));
const someBytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
const asBinary = (bytes: Uint8Array): CloudEventData => ({ kind: "binary", bytes });

/**
 * Data with a matching content type. In binary mode an empty body is no data, and a body without a content
 * type that could be JSON is JSON.
 */
const content = fc.oneof(
  fc.tuple(json, fc.constantFrom(undefined, "application/json", "application/vnd.shop+json")),
  fc.tuple(textData, fc.constantFrom("text/plain", "text/xml; charset=utf-8")),
  fc.tuple(someBytes.map(asBinary), fc.constantFrom("image/png", "application/octet-stream")),
  fc.tuple(someBytes.filter((bytes) => !readJson(bytes).ok).map(asBinary), fc.constant(undefined)),
  fc.tuple(fc.constant<CloudEventData>({ kind: "none" }), fc.constantFrom(undefined, "application/json")),
);

export const anyCloudEvent: fc.Arbitrary<CloudEvent> = fc
  .record({
    id: text,
    source: fc.constantFrom(
      "/shop",
      "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66",
      "https://a.example/b?c=%20#d",
    ),
    type: fc.oneof(fc.constantFrom("order.paid", "com.Example.Order-Paid", "a..b"), text),
    subject: fc.option(text, { nil: undefined }),
    time: fc.constantFrom(undefined, "2026-01-02T03:04:05.678901+01:00", "2016-12-31T23:59:60Z"),
    dataschema: fc.constantFrom(undefined, "https://shop.example/order.json#/a"),
    extensions: fc.dictionary(
      name,
      fc.oneof(text, fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.boolean()),
      { maxKeys: 4 },
    ),
    content,
  })
  .map(({ content: [data, datacontenttype], ...event }) => ({
    ...event,
    ...(datacontenttype !== undefined && { datacontenttype }),
    data,
  }));

/** The normal form: values as text, data as bytes, and an explicit content type for JSON. */
export function essence(event: CloudEvent): unknown {
  const { data, extensions, datacontenttype, id, source, type, subject, time, dataschema } = event;
  return {
    ...{ id, source, type, subject, time, dataschema },
    datacontenttype: datacontenttype ?? (data.kind === "json" ? "application/json" : undefined),
    extensions: Object.fromEntries(
      Object.entries(extensions)
        .filter(([key]) => !ADDED.includes(key))
        .map(([key, value]) => [key, String(value)]),
    ),
    data: data.kind === "none" ? null : Buffer.from(dataBytes(data)).toString("hex"),
  };
}

/** The attributes that Posthorn adds to an event with a subject or a trace. */
const ADDED = ["partitionkey", "sequence", "sequencetype", "traceparent"];
