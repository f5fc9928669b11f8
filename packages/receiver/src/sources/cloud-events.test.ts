// CloudEvents 1.0.2 in its three HTTP modes, and every rule that a strict reader holds to.
import { describe, expect, test } from "vitest";
import type { Parsed, ParsedEvent } from "../source.ts";
import { parseBinaryCloudEvent, parseCloudEvents } from "./cloud-events.ts";

const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
const STRUCTURED = "application/cloudevents+json";
const valid = { specversion: "1.0", id: "1", source: "/shop", type: "order.paid" };

function parse(body: unknown, headers: Record<string, string>, signedId: string | null = null) {
  const raw = body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : bytes(JSON.stringify(body));
  const read = "ce-specversion" in headers ? parseBinaryCloudEvent : parseCloudEvents;
  return read({ source: "x", signedId, headers, body: raw });
}

const idsOf = (parsed: Parsed | null) =>
  parsed?.kind === "events" ? parsed.events.map(({ id }) => id) : parsed;

function parseOne(
  body: unknown,
  headers: Record<string, string> = { "content-type": STRUCTURED },
): ParsedEvent {
  const parsed = parse(body, headers);
  if (parsed?.kind !== "events") throw new Error(JSON.stringify(parsed));
  expect(parsed.events).toHaveLength(1);
  return parsed.events[0] as ParsedEvent;
}

function reasonOf(body: unknown, headers: Record<string, string> = { "content-type": STRUCTURED }): string {
  const parsed = parse(body, headers);
  if (parsed?.kind !== "malformed") throw new Error(JSON.stringify(parsed));
  return parsed.reason;
}

describe("structured mode", () => {
  test("all attributes, and the data as it is", () => {
    const event = {
      ...valid,
      subject: "order/1",
      time: "2026-01-02T03:04:05.678+01:00",
      sequence: "7",
      datacontenttype: "application/json",
      dataschema: "https://shop.example/order.json",
      traceparent: "00-1",
      flag: true,
      count: -1,
      data: { total: 0 },
    };
    expect(parseOne(event)).toEqual({
      id: "/shop 1",
      type: "order.paid",
      subject: "order/1",
      sequence: 7,
      sequenceScope: "/shop order/1",
      createdAt: new Date("2026-01-02T02:04:05.678Z"),
      data: { total: 0 },
      payload: event,
    });
  });

  test.each([0, false, null, "", [], {}])("the data %j is not lost", (data) => {
    expect(parseOne({ ...valid, data }).data).toEqual(data);
  });

  test("an event without data has none, and an attribute that is null is absent", () => {
    expect(parseOne({ ...valid, subject: null, time: null })).toMatchObject({
      data: undefined,
      subject: null,
    });
  });

  test("binary data is decoded", () => {
    expect(parseOne({ ...valid, data_base64: "AP8K" }).data).toEqual(Uint8Array.of(0, 255, 10));
  });

  test.each([
    "application/cloudevents+json; charset=utf-8",
    "application/cloudevents+json;charset=UTF-8",
    "Application/CloudEvents+JSON",
  ])("the content type may be written %s", (contentType) => {
    expect(parseOne(valid, { "Content-Type": contentType }).id).toBe("/shop 1");
  });
});

test("a source cannot have a space, so that source and id part in one place only", () => {
  expect(reasonOf({ ...valid, source: "/a b" })).toBe("Its source is not a URI reference.");
});

test.each<[what: string, changed: object, reason: string]>([
  ["no id", { id: undefined }, "It has no id."],
  ["an empty id", { id: "" }, "It has no id."],
  ["a number as id", { id: 1 }, "It has no id."],
  ["no source", { source: undefined }, "It has no source."],
  ["no type", { type: null }, "It has no type."],
  ["no specversion", { specversion: undefined }, "It has no specversion."],
  ["another specversion", { specversion: "0.3" }, "Its specversion is not 1.0."],
  ["an empty subject", { subject: "" }, "Its subject is empty."],
  [
    "a time without a zone",
    { time: "2026-01-02T03:04:05" },
    "Its time is not in RFC 3339 format, for example 2026-11-16T08:00:00Z.",
  ],
  [
    "a time that never was",
    { time: "2026-13-02T03:04:05Z" },
    "Its time is not in RFC 3339 format, for example 2026-11-16T08:00:00Z.",
  ],
  [
    "30 February",
    { time: "2026-02-30T03:04:05Z" },
    "Its time is not in RFC 3339 format, for example 2026-11-16T08:00:00Z.",
  ],
  ["a negative sequence", { subject: "a", sequence: "-1" }, "Its sequence is not a non-negative integer"],
  ["a fraction as sequence", { subject: "a", sequence: "1.5" }, "Its sequence is not a non-negative integer"],
  [
    "a text as sequence of integers",
    { subject: "a", sequence: "x", sequencetype: "Integer" },
    "Its sequence is not",
  ],
  ["a relative dataschema", { dataschema: "/order.json" }, "Its dataschema is not an absolute URI."],
  ["an empty dataschema", { dataschema: "" }, "Its dataschema is not an absolute URI."],
  ["a datacontenttype that is none", { datacontenttype: "json" }, "Its datacontenttype is not a media type."],
  ["an upper-case name", { traceParent: "x" }, '"traceParent" is no name of an attribute'],
  ["a name with a hyphen", { "trace-parent": "x" }, '"trace-parent" is no name of an attribute'],
  ["an object as attribute", { extension: {} }, "The attribute extension is not a string"],
  ["a fraction as attribute", { extension: 1.5 }, "The attribute extension is not a string"],
  ["an integer past 32 bits", { extension: 2 ** 31 }, "The attribute extension is not a string"],
  ["a control character", { id: "a\u0000" }, "The attribute id has a forbidden character."],
  ["a noncharacter", { id: "a\uffff" }, "The attribute id has a forbidden character."],
  ["half a character", { id: "a\ud800" }, "The attribute id has a forbidden character."],
  ["both kinds of data", { data: 1, data_base64: "AA==" }, "It has both data and data_base64."],
  ["base64 of another alphabet", { data_base64: "_-8=" }, "data_base64 is not base64."],
  ["base64 without padding", { data_base64: "AA" }, "data_base64 is not base64."],
])("%s is malformed", (_, changed, reason) => {
  expect(reasonOf({ ...valid, ...changed })).toContain(reason);
});

test("a leap second is the second after it, and data that is null stands beside data_base64", () => {
  expect(parseOne({ ...valid, time: "2016-12-31T23:59:60.5Z" }).createdAt).toEqual(
    new Date("2017-01-01T00:00:00.500Z"),
  );
  expect(parseOne({ ...valid, time: "2024-02-29T00:00:00Z" }).createdAt).toEqual(new Date("2024-02-29"));
  expect(parseOne({ ...valid, data: null, data_base64: "AA==" }).data).toEqual(Uint8Array.of(0));
});

test("an integer of 32 bits is an attribute", () => {
  expect(parseOne({ ...valid, extension: 2 ** 31 - 1, other: -(2 ** 31) }).id).toBe("/shop 1");
});

test("what is no object, no JSON, or in a format that is not JSON, is malformed", () => {
  expect(reasonOf([valid])).toBe("A CloudEvent must be a JSON object.");
  expect(reasonOf(bytes("{"))).toContain("not JSON");
  expect(reasonOf(Uint8Array.of(0xff))).toBe("The body is not UTF-8.");
  expect(reasonOf(valid, { "content-type": "application/cloudevents+avro" })).toContain(
    "application/cloudevents+avro",
  );
});

describe("binary mode", () => {
  const headers = {
    "ce-specversion": "1.0",
    "CE-Id": "1",
    "ce-source": "/shop",
    "ce-type": "order.paid",
    "content-type": "application/json",
  };

  test("attributes in headers, data in the body", () => {
    expect(parseOne({ total: 1 }, { ...headers, "ce-subject": "order/1", "ce-sequence": "3" })).toMatchObject(
      {
        id: "/shop 1",
        type: "order.paid",
        subject: "order/1",
        sequence: 3,
        data: { total: 1 },
      },
    );
  });

  test("data of other content types is text, or bytes", () => {
    const body = bytes("häuser");
    expect(parseOne(body, { ...headers, "content-type": "text/plain" }).data).toBe("häuser");
    expect(parseOne(body, { ...headers, "content-type": "image/png" }).data).toEqual(body);
    expect(parseOne(bytes("1"), { ...headers, "content-type": "application/vnd.shop+json" }).data).toBe(1);
    expect(parseOne(bytes(""), headers).data).toBeUndefined();
  });

  test.each([
    ["Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"],
    ["%e2%82%ac", "€"],
    ["%41", "A"],
    ["100%2525", "100%25"],
    ['"quoted \\"text\\""', 'quoted "text"'],
    ["plain", "plain"],
  ])("the header value %s is %s", (value, subject) => {
    expect(parseOne({}, { ...headers, "ce-subject": value }).subject).toBe(subject);
  });

  test.each(["%C0%A0", "%ff", "100%", "%zz", "%E2%82"])("the header value %s is malformed", (value) => {
    expect(reasonOf({}, { ...headers, "ce-subject": value })).toContain("ce-subject");
  });

  test("the content type has one place", () => {
    expect(reasonOf({}, { ...headers, "ce-datacontenttype": "application/json" })).toContain(
      "ce-datacontenttype",
    );
  });

  test("the same rules hold as in a body", () => {
    const { "CE-Id": _, ...withoutId } = headers;
    expect(reasonOf({}, withoutId)).toBe("It has no id.");
    expect(reasonOf({}, { ...headers, "ce-bad_name": "x" })).toContain("is no name of an attribute");
    expect(reasonOf(bytes("{"), headers)).toContain("not JSON");
  });

  test("a `Headers` object is read too", () => {
    const parsed = parseBinaryCloudEvent({
      source: "x",
      signedId: null,
      headers: new Headers(headers),
      body: bytes("{}"),
    });
    expect(parsed).toMatchObject({ kind: "events", events: [{ id: "/shop 1" }] });
  });
});

describe("batches", () => {
  const contentType = { "content-type": "application/cloudevents-batch+json" };

  test("each member can be parsed standalone, by its own bytes", () => {
    const first = '{"specversion":"1.0","id":"1","source":"/shop","type":"a","data":{"n":1.0,"s":"],[\\"{"}}';
    const second = '{ "specversion":"1.0","id":"2","source":"/shop","type":"b","data":12345678901234567890 }';
    const parsed = parse(bytes(` [ ${first} ,\n${second}] `), contentType);
    if (parsed?.kind !== "events") throw new Error(JSON.stringify(parsed));
    expect(parsed.events.map(({ standalone }) => new TextDecoder().decode(standalone?.body))).toEqual([
      first,
      second,
    ]);
    for (const { standalone, ...event } of parsed.events) {
      expect(parseOne(standalone?.body, { ...standalone?.headers })).toEqual(event);
    }
  });

  test("it may be empty", () => {
    expect(parse([], {})).toBeNull();
    expect(parse([], contentType)).toEqual({ kind: "events", events: [] });
    expect(parse(bytes(" [ ] "), contentType)).toEqual({ kind: "events", events: [] });
  });

  test("one malformed member is told by its place, and the batch goes no further", () => {
    expect(reasonOf([valid, { ...valid, id: "" }], contentType)).toBe("Member 1 of the batch: It has no id.");
    expect(reasonOf(valid, contentType)).toBe("A batch must be a JSON array.");
  });
});

describe("what is signed decides", () => {
  const headers = { "ce-specversion": "1.0", "ce-id": "2", "ce-source": "/x", "ce-type": "a" };

  test.each(["application/json", "text/plain", STRUCTURED, "APPLICATION/CLOUDEVENTS+JSON; charset=utf-8"])(
    "the body is one event under the signed id, as %s too",
    (contentType) => {
      expect(idsOf(parse(valid, { "content-type": contentType }, "msg_1"))).toEqual(["msg_1"]);
      expect(idsOf(parse(valid, { "content-type": contentType }))).toEqual(["/shop 1"]);
    },
  );

  test.each(["application/json", "application/cloudevents-batch+json"])(
    "a member's id begins with the signed one, as %s too",
    (contentType) => {
      const parsed = parse([valid, { ...valid, id: "2" }], { "content-type": contentType }, "msg_1");
      expect(idsOf(parsed)).toEqual(["msg_1 /shop 1", "msg_1 /shop 2"]);
    },
  );

  test("binary mode has the signed id too", () => {
    expect(idsOf(parse({}, headers, "msg_1"))).toEqual(["msg_1"]);
  });

  test("data with some of the names is data", () => {
    expect(parse({ specversion: "1.0", id: "1", type: "a" }, {})).toBeNull();
    expect(parse([valid, {}], {})).toBeNull();
  });
});

test("anything else is no CloudEvent", () => {
  expect(parse({}, { "content-type": "application/json" })).toBeNull();
  expect(parse({}, {})).toBeNull();
});
