// CloudEvents as events of a receiver: ids, subjects, sequences and data. @posthorn/wire tests the rules of the specification.
import { describe, expect, test } from "vitest";
import type { ParsedEvent } from "../source.ts";
import { parseBinaryCloudEvent, parseCloudEvents } from "./cloud-events.ts";

const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
const STRUCTURED = "application/cloudevents+json";
const BATCH = { "content-type": "application/cloudevents-batch+json" };
const BINARY = {
  "ce-specversion": "1.0",
  "CE-Id": "1",
  "ce-source": "/shop",
  "ce-type": "order.paid",
  "content-type": "application/json",
};
const valid = { specversion: "1.0", id: "1", source: "/shop", type: "order.paid" };

function parse(body: unknown, headers: Record<string, string>, signedId: string | null = null) {
  const raw = body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : bytes(JSON.stringify(body));
  const read = "ce-specversion" in headers ? parseBinaryCloudEvent : parseCloudEvents;
  return read({ source: "x", signedId, headers, body: raw });
}

function parseOne(body: unknown, headers: Record<string, string> = { "content-type": STRUCTURED }) {
  const parsed = parse(body, headers);
  if (parsed?.kind !== "events") throw new Error(JSON.stringify(parsed));
  expect(parsed.events).toHaveLength(1);
  return parsed.events[0] as ParsedEvent;
}

test("a structured event has the attributes of the CloudEvent and its data", () => {
  const event = {
    ...valid,
    subject: "order/1",
    time: "2016-12-31T23:59:60.5Z",
    sequence: "7",
    data: { total: 0 },
  };
  expect(parseOne(event)).toEqual({
    id: "/shop 1",
    type: "order.paid",
    subject: "order/1",
    sequence: 7,
    sequenceScope: "/shop order/1",
    createdAt: new Date("2017-01-01T00:00:00.500Z"),
    data: { total: 0 },
    payload: event,
  });
  expect(parseOne({ ...valid, subject: null, time: null })).toMatchObject({ data: undefined, subject: null });
  expect(parseOne({ ...valid, data: null, data_base64: "AP8K" }).data).toEqual(Uint8Array.of(0, 255, 10));
});

test.each([0, false, null, "", [], {}])("the data %j is not lost", (data) => {
  expect(parseOne({ ...valid, data }).data).toEqual(data);
});

test("a binary event has its attributes in headers, of any kind of object, and its data in the body", () => {
  const headers = { ...BINARY, "ce-subject": "order/1", "ce-sequence": "3" };
  const event = { id: "/shop 1", type: "order.paid", subject: "order/1", sequence: 3, data: { total: 1 } };
  expect(parseOne({ total: 1 }, headers)).toMatchObject(event);
  const verified = { source: "x", signedId: null, headers: new Headers(headers), body: bytes('{"total":1}') };
  expect(parseBinaryCloudEvent(verified)).toMatchObject({ kind: "events", events: [event] });
  expect(parseOne(bytes("häuser"), { ...BINARY, "content-type": "text/plain" }).data).toBe("häuser");
});

test.each<[what: string, body: unknown, headers: Record<string, string>, reason: string]>([
  ["no id", { ...valid, id: "" }, { "content-type": STRUCTURED }, "It has no id."],
  ["a space in the source", { ...valid, source: "/a b" }, {}, "Its source is not a URI reference."],
  ["a negative sequence", { ...valid, subject: "a", sequence: "-1" }, {}, "Its sequence is not"],
  ["a fraction as sequence", { ...valid, subject: "a", sequence: "1.5" }, {}, "Its sequence is not"],
  [
    "a text as sequence of integers",
    { ...valid, subject: "a", sequence: "x", sequencetype: "Integer" },
    {},
    "Its sequence is not",
  ],
  ["no JSON", bytes("{"), { "content-type": STRUCTURED }, "not JSON"],
  ["another format", valid, { "content-type": "application/cloudevents+avro" }, "cloudevents+avro"],
  ["a header that cannot be decoded", {}, { ...BINARY, "ce-subject": "%ff" }, "ce-subject"],
  ["a wrong member", [valid, { ...valid, id: "" }], BATCH, "Member 1 of the batch: It has no id."],
  ["a batch that is no array", valid, BATCH, "A batch must be a JSON array."],
])("an event with %s is malformed", (_, body, headers, reason) => {
  expect(parse(body, headers)).toEqual({ kind: "malformed", reason: expect.stringContaining(reason) });
});

describe("a batch", () => {
  test("has members that can be parsed standalone, by their own bytes", () => {
    const first = '{"specversion":"1.0","id":"1","source":"/shop","type":"a","data":{"n":1.0,"s":"],[\\"{"}}';
    const second = '{ "specversion":"1.0","id":"2","source":"/shop","type":"b","data":12345678901234567890 }';
    const parsed = parse(bytes(` [ ${first} ,\n${second}] `), BATCH);
    if (parsed?.kind !== "events") throw new Error(JSON.stringify(parsed));
    expect(parsed.events.map(({ standalone }) => new TextDecoder().decode(standalone?.body))).toEqual([
      first,
      second,
    ]);
    for (const { standalone, ...event } of parsed.events) {
      expect(parseOne(standalone?.body, { ...standalone?.headers })).toEqual(event);
    }
  });

  test("may be empty", () => {
    expect(parse([], BATCH)).toEqual({ kind: "events", events: [] });
  });
});

test.each([[{}], [[]], [{ specversion: "1.0", id: "1", type: "a" }], [[valid, {}]]])(
  "the body %j is not a CloudEvent",
  (body) => {
    expect(parse(body, { "content-type": "application/json" })).toBeNull();
  },
);
