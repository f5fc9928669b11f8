// CloudEvents 1.0.2: every rule with the place of the problem, and no loss between modes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/support/cpu-time.ts";
import { anyCloudEvent, essence } from "../../../../tests/support/samples/cloud-events.ts";
import { decode } from "../encoding.ts";
import {
  batchBytes,
  type CloudEvent,
  cloudEventFrom,
  type Decoded,
  decodeBatch,
  decodeBinary,
  decodeStructured,
  encodeBatch,
  encodeBinary,
  encodeStructured,
  eventPartsOf,
  formatProblem,
  modeOf,
  ownTypeOf,
  withoutData,
} from "./index.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const valid = { specversion: "1.0", id: "1", source: "/shop", type: "order.paid" };
const placesIn = (decoded: Decoded<unknown>) =>
  decoded.ok ? [] : decoded.problems.map(({ place }) => place);
const structured = (event: unknown) => decodeStructured(bytes(JSON.stringify(event)));

const modes: Record<string, (event: CloudEvent) => CloudEvent> = {
  structured: (event) => value(decodeStructured(encodeStructured(event))),
  binary: (event) => {
    const { headers, body } = encodeBinary(event);
    const attributes = new Map(Object.entries(headers).filter(([header]) => header.startsWith("ce-")));
    return value(decodeBinary(attributes, headers["content-type"] ?? null, body));
  },
  batch: (event) => {
    const one = encodeStructured(event);
    return value(decodeBatch(encodeBatch([one, one])))[1]?.event as CloudEvent;
  },
};

function value<Content>(decoded: Decoded<Content>): Content {
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems));
  return decoded.value;
}

/** As Posthorn stores and returns it. */
function kept(event: CloudEvent): CloudEvent {
  const { type, subject = null, payload, attributes } = value(eventPartsOf(event));
  const stored = JSON.parse(JSON.stringify(attributes));
  const facts = { id: "x", tenant: "t", apiVersion: "1", createdAt: new Date(0) };
  const sequence = subject === null ? null : 7;
  return cloudEventFrom({ ...facts, type, subject, sequence, payload, attributes: stored }, "/ours");
}

describe("nothing is lost", () => {
  const pairs = Object.keys(modes).flatMap((first) =>
    Object.keys(modes).map((last) => [first, last] as const),
  );

  test.each(pairs)("in as %s, out as %s", (first, last) => {
    fc.assert(
      fc.property(anyCloudEvent, (event) => {
        const came = (modes[first] as (event: CloudEvent) => CloudEvent)(event);
        const went = (modes[last] as (event: CloudEvent) => CloudEvent)(kept(came));
        expect(essence(went)).toEqual(essence(event));
      }),
      { numRuns: 60 },
    );
  });

  test("an event gains its sequence, unless it has its own", () => {
    const event = value(structured({ ...valid, subject: "s" }));
    expect(kept(event).extensions).toEqual({ partitionkey: "s", sequence: "7", sequencetype: "Integer" });
    const counted = value(structured({ ...valid, subject: "s", sequence: "a", partitionkey: "p" }));
    expect(kept(counted).extensions).toEqual({ partitionkey: "p", sequence: "a" });
  });
});

const facts = { id: "x", tenant: "t", type: "a", apiVersion: "1", subject: null, sequence: null };
const fields = { ...facts, createdAt: new Date(0), payload: bytes("1") };

test("extensions are in a fixed order", () => {
  const names = (extensions: Record<string, number>) =>
    Object.keys(cloudEventFrom({ ...fields, attributes: { source: "/shop", extensions } }, "/s").extensions);
  expect(names({ zz: 1, region: 2, a: 3 })).toEqual(["a", "region", "zz"]);
});

test("a thin event has a `dataref`, unless it has its own", () => {
  expect(withoutData(cloudEventFrom(fields, "/s"), "/api/x")).toMatchObject({
    data: { kind: "none" },
    extensions: { dataref: "/api/x" },
  });
  const attributes = { source: "/shop", extensions: { dataref: "https://shop.example/1" } };
  const foreign = cloudEventFrom({ ...fields, attributes }, "/s");
  expect(withoutData(foreign, "/api/x").extensions).toEqual(attributes.extensions);
});

test("the URL of a schema is only for events that were not published as a CloudEvent", () => {
  const url = "https://hooks.example/event-schemas/a/1.json";
  expect(cloudEventFrom(fields, "/s", url).dataschema).toBe(url);
  expect(cloudEventFrom(fields, "/s")).not.toHaveProperty("dataschema");
  for (const dataschema of [undefined, "/their/schema"]) {
    const attributes = { source: "/shop", dataschema };
    expect(cloudEventFrom({ ...fields, attributes }, "/s", url).dataschema).toBe(dataschema);
  }
});

test.each([
  ["application/cloudevents+json", "structured", null],
  ["Application/CloudEvents+JSON; charset=UTF-8", "structured", null],
  ["application/cloudevents-batch+json", "batch", null],
  ["application/json", "binary", null],
  [null, "binary", null],
  ["application/cloudevents+avro", "structured", expect.stringContaining("application/cloudevents+avro")],
])("%s is %s mode", (contentType, mode, problem) => {
  expect([modeOf(contentType), formatProblem(contentType)]).toEqual([mode, problem]);
});

test.each<[what: string, changed: object, place: string]>([
  ["no id", { id: undefined }, "/id"],
  ["an empty source", { source: "" }, "/source"],
  ["a source that is no URI reference", { source: "a b" }, "/source"],
  ["half a percent sign", { source: "/a%2" }, "/source"],
  ["a source with half an address", { source: "http://[::1/x" }, "/source"],
  ["a source with two fragments", { source: "a#b#c" }, "/source"],
  ["a source whose scheme is a number", { source: "1a:b" }, "/source"],
  ["a source whose port is none", { source: "http://shop:x/" }, "/source"],
  ["another specversion", { specversion: "0.3" }, "/specversion"],
  ["an empty subject", { subject: "" }, "/subject"],
  ["a time without a zone", { time: "2026-01-02T03:04:05" }, "/time"],
  ["an hour after the last", { time: "2026-01-02T24:00:00Z" }, "/time"],
  ["a day that never was", { time: "2025-02-29T00:00:00Z" }, "/time"],
  ["a leap second at noon", { time: "2016-12-31T12:00:60Z" }, "/time"],
  ["an offset of a day", { time: "2026-01-02T03:04:05+24:00" }, "/time"],
  ["a relative dataschema", { dataschema: "/a" }, "/dataschema"],
  ["a datacontenttype that is none", { datacontenttype: "json" }, "/datacontenttype"],
  ["a datacontenttype that is two headers", { datacontenttype: "a/b\r\nx: y" }, "/datacontenttype"],
  ["an upper-case name", { traceParent: "x" }, "/traceParent"],
  ["a name with a slash", { "a/b~": 1 }, "/a~1b~0"],
  ["an object as attribute", { ext: {} }, "/ext"],
  ["an integer past 32 bits", { ext: 2 ** 31 }, "/ext"],
  ["a control character", { ext: "\u0007" }, "/ext"],
  ["half a character", { ext: "\ud800" }, "/ext"],
  ["both kinds of data", { data: 1, data_base64: "AA==" }, "/data_base64"],
  ["what is no base64", { data_base64: "AA" }, "/data_base64"],
])("%s is reported with its place", (_, changed, place) => {
  expect(placesIn(structured({ ...valid, ...changed }))).toContain(place);
  expect(placesIn(decodeBatch(bytes(JSON.stringify([valid, { ...valid, ...changed }]))))).toContain(
    `/1${place}`,
  );
});

test.each<[what: string, given: object]>([
  ["a relative source", { source: "a/b:c" }],
  ["a source with an address", { source: "https://u:p@[2001:db8::1]:8443/a;b?c/?d=%20#e" }],
  ["a source without a host", { source: "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66" }],
  ["a telephone number for a source", { source: "1-555-123-4567" }],
  ["nanoseconds and an offset", { time: "2026-01-02T03:04:05.123456789+05:30" }],
  ["a leap second", { time: "2016-12-31t23:59:60.5z" }],
  ["a leap second elsewhere", { time: "2017-01-01T05:29:60+05:30" }],
  ["29 February of the year 0", { time: "0000-02-29T00:00:00Z" }],
  ["a content type with an empty parameter", { datacontenttype: 'a/b ; ; c="d\\"e" ;f=g ' }],
])("%s is valid", (_, given) => {
  expect(placesIn(structured({ ...valid, ...given }))).toEqual([]);
});

test("checking an attribute takes time linear in its length", async () => {
  const much = " ".repeat(60_000);
  const hostile = { source: `a${much}`, time: `2026${much}`, dataschema: much };
  let places: unknown;
  const ms = await cpuMsOf(() => {
    places = placesIn(structured({ ...valid, ...hostile, datacontenttype: `a/b${much}x` }));
  });
  expect(places).toEqual(["/source", "/time", "/dataschema", "/datacontenttype"]);
  // quadratic, it took 3.6 s
  expect(ms).toBeLessThan(1_500);
});

test("an attribute has at most 64 Ki characters", () => {
  const source = (length: number) => ({ ...valid, source: `/${"a".repeat(length - 1)}` });
  expect(placesIn(structured(source(65_536)))).toEqual([]);
  expect(structured(source(65_537))).toEqual({
    ok: false,
    problems: [{ place: "/source", message: "The attribute source has more than 65536 characters." }],
  });
  // so long that patterns would run out of stack
  expect(placesIn(structured(source(16_000_000)))).toEqual(["/source"]);
});

test("all problems are reported at once", () => {
  expect(placesIn(structured({ specversion: "1.0", time: "x", ext: [] }))).toEqual([
    "/id",
    "/source",
    "/type",
    "/ext",
    "/time",
  ]);
});

test("a repeated member name is rejected", () => {
  const twice = bytes('{"specversion":"1.0","id":"1","source":"/a","type":"a","id":"2"}');
  expect(decodeStructured(twice)).toMatchObject({
    ok: false,
    problems: [{ place: "/id", message: '"id" is given twice.' }],
  });
});

test("data is found by its name, also beside names of digits and however it is written", () => {
  const body = bytes(
    '{"1":"x","specversion":"1.0","id":"1","source":"/a","type":"a","d\\u0061ta": {"b":1.0} }',
  );
  const { data } = value(decodeStructured(body));
  expect(data.kind === "json" && new TextDecoder().decode(data.json)).toBe('{"b":1.0}');
});

// features/http-protocol-binding.feature of cloudevents/conformance
test.each([
  "application/json",
  "application/json; charset=utf-8",
  "application/cloudevents+json",
  "application/cloudevents+json; charset=utf-8",
])("the project's conformance suite, %s", (contentType) => {
  const mode = modeOf(contentType);
  const attributes = {
    specversion: "1.0",
    type: "com.example.someevent",
    time: "2018-04-05T03:56:24Z",
    id: "1234-1234-1234",
    source: "/mycontext/subcontext",
  };
  const data = { message: "Hello World!" };
  const headers = new Map(Object.entries(attributes).map(([name, text]) => [`ce-${name}`, text]));
  const event =
    mode === "binary"
      ? value(decodeBinary(headers, contentType, bytes(JSON.stringify(data, null, 4))))
      : value(structured({ ...attributes, datacontenttype: "application/json", data }));
  const { specversion: _, ...rest } = attributes;
  const datacontenttype = mode === "binary" ? contentType : "application/json";
  expect(event).toMatchObject({ ...rest, datacontenttype, data: { kind: "json", value: data } });
});

test("JSON data with another content type is rejected", () => {
  const event = value(structured({ ...valid, datacontenttype: "text/plain", data: { a: 1 } }));
  expect(placesIn(eventPartsOf(event, "/3"))).toEqual(["/3/data"]);
});

test.each([
  ["text/plain; charset=iso-8859-1", "hé", ["/data"]],
  ["text/plain; charset=utf-16", "h", ["/data"]],
  ["text/plain", "\ud800", ["/data"]],
  ["text/plain; charset=iso-8859-1", "h", []],
])("text is rejected only if %s and UTF-8 differ: %j", (datacontenttype, data, places) => {
  expect(placesIn(eventPartsOf(value(structured({ ...valid, datacontenttype, data }))))).toEqual(places);
});

describe("binary mode", () => {
  const headers = { "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/shop", "ce-type": "a" };
  const decode = (
    changed: Record<string, string>,
    contentType: string | null = "application/json",
    body = "{}",
  ) => decodeBinary(new Map(Object.entries({ ...headers, ...changed })), contentType, bytes(body));

  test("the vector of the specification", () => {
    const event = value(structured({ ...valid, subject: "Euro € 😀" }));
    expect(encodeBinary(event).headers["ce-subject"]).toBe("Euro%20%E2%82%AC%20%F0%9F%98%80");
  });

  test.each([
    ["%C0%A0", "ce-ext"],
    ["100%", "ce-ext"],
    ["%E2%82", "ce-ext"],
    ["a\tb", "ce-ext"],
  ])("the header value %s is reported with its place", (given, place) => {
    expect(placesIn(decode({ "ce-ext": given }))).toEqual([place]);
  });

  test("a header that is wrong is named, and one that cannot be decoded is not missing as well", () => {
    expect(placesIn(decode({ "ce-id": "%ff", "ce-time": "x", "ce-bad_name": "y", "ce-data": "z" }))).toEqual([
      "ce-id",
      "ce-bad_name",
      "ce-data",
      "ce-time",
    ]);
    expect(placesIn(decode({ "ce-datacontenttype": "a/b" }))).toEqual(["ce-datacontenttype"]);
    expect(placesIn(decode({ "ce-__proto__": "x" }))).toEqual(["ce-__proto__"]);
    expect(placesIn(decode({}, "json"))).toEqual(["content-type"]);
    expect(placesIn(decode({}, "application/json", "{"))).toEqual([""]);
  });

  test.each([
    ["the Go SDK writes, UTF-8", Buffer.from("sübject €").toString("latin1"), "sübject €"],
    ["the JavaScript SDK writes, Latin-1", "sübject", "sübject"],
    ["a runtime has decoded", "sübject €", "sübject €"],
  ])("a header as %s is decoded", (_, given, meant) => {
    expect(value(decode({ "ce-subject": given })).subject).toBe(meant);
    expect(value(decode({ "ce-subject": `"${given}"` })).subject).toBe(meant);
  });

  test("JSON without a content type, as the Python SDK sends it, is JSON", () => {
    const event = value(decode({}, null, '{"message": "Hello World!"}'));
    expect(event).toMatchObject({ data: { kind: "json", value: { message: "Hello World!" } } });
    expect(event.datacontenttype).toBeUndefined();
    expect(value(decode({}, null, "{ no JSON")).data.kind).toBe("binary");
  });

  test("text in another charset than UTF-8 is bytes", () => {
    expect(value(decode({}, "text/plain; charset=iso-8859-1", "x")).data.kind).toBe("binary");
    expect(value(decode({}, "text/plain; charset=utf-8", "x")).data.kind).toBe("text");
  });
});

test.each([
  ["order.paid", "order.paid"],
  ["com.Example.Order-Paid", "com.example.order_paid"],
  ["a..b", "a._.b"],
  ["Ünïcode!", "_n_code_"],
])("the type %s is %s to endpoints", (type, own) => {
  expect(ownTypeOf(type)).toBe(own);
});

test("batchBytes predicts the length of a batch", () => {
  const members = [bytes("{}"), bytes('{"a":1}'), bytes("{ }")];
  for (let n = 0; n <= members.length; n += 1) {
    const some = members.slice(0, n);
    expect(encodeBatch(some).length).toBe(batchBytes(some.map(({ length }) => length)));
  }
  expect(decodeBatch(encodeBatch([]))).toEqual({ ok: true, value: [] });
});

test("base64 of many megabytes is decoded, and an invalid character is rejected", () => {
  const long = "A".repeat(16_000_000);
  expect(decode("base64", long)).toHaveLength(12_000_000);
  for (const wrong of [`${long}A===`, `${long}AA=A`, `${long}A-AA`, `${long}=`, "====", "A"])
    expect(decode("base64", wrong)).toBeNull();
});
