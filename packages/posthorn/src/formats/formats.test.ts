// Bodies and headers of each format, for events published as JSON and as CloudEvents.
import { decodeBatch, decodeBinary, decodeStructured } from "@posthorn/wire";
import { expect, test } from "vitest";
import type { Event, PayloadFormat } from "../model.ts";
import { contentOf } from "./formats.ts";

const EVENT_UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
const bytes = (text: string) => new TextEncoder().encode(text);

const ours: Event = {
  id: EVENT_UUID,
  tenant: "t1",
  type: "order.paid",
  apiVersion: "2",
  subject: "Bestellung 7 €",
  sequence: 3,
  payload: bytes('{"b":1.0,"a":12345678901234567890}'),
  createdAt: new Date("2026-06-01T10:00:00.123Z"),
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
};

const foreign: Event = {
  ...ours,
  subject: null,
  sequence: null,
  traceparent: undefined,
  payload: bytes('"AP8K"'),
  attributes: {
    id: "A 1",
    source: "/shop",
    type: "com.Shop",
    datacontenttype: "image/png",
    encoding: "base64",
    extensions: { n: 5 },
  },
};

function send(event: Event, format: PayloadFormat) {
  const formatContext = { source: "https://hooks.example/tenants/t1", datarefBase: "https://hooks.example" };
  const { headers: attributes, contentType, body } = contentOf(event, { format, formatContext });
  const headers: Record<string, string> = {
    ...attributes,
    ...(contentType !== undefined && { "content-type": contentType }),
  };
  return { headers, body, text: new TextDecoder().decode(body) };
}

test("a structured CloudEvent contains everything an envelope does, with the data's own bytes", () => {
  const { headers, text } = send(ours, "cloudevents");
  expect(headers).toEqual({ "content-type": "application/cloudevents+json; charset=utf-8" });
  expect(text).toBe(
    `{"specversion":"1.0","id":"evt_${EVENT_UUID}","source":"https://hooks.example/tenants/t1","type":"order.paid"` +
      ',"subject":"Bestellung 7 €","time":"2026-06-01T10:00:00.123Z","datacontenttype":"application/json"' +
      ',"tenantid":"t1","apiversion":"2","partitionkey":"Bestellung 7 €","sequence":"3","sequencetype":"Integer"' +
      ',"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"' +
      ',"data":{"b":1.0,"a":12345678901234567890}}',
  );
});

test("in binary mode the attributes are percent-encoded headers and the body is the data", () => {
  const { headers, text } = send(ours, "cloudevents-binary");
  expect(text).toBe('{"b":1.0,"a":12345678901234567890}');
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "ce-specversion": "1.0",
    "ce-subject": "Bestellung%207%20%E2%82%AC",
    "ce-sequence": "3",
  });
  expect(headers).not.toHaveProperty("ce-datacontenttype");
});

test("a thin CloudEvent refers to its data instead of containing it", () => {
  const { headers, text } = send(ours, "cloudevents-thin");
  expect(headers["content-type"]).toBe("application/cloudevents+json; charset=utf-8");
  expect(JSON.parse(text)).toMatchObject({
    dataref: `https://hooks.example/event-data/evt_${EVENT_UUID}`,
  });
  expect(JSON.parse(text)).not.toHaveProperty("data");
});

test("a single event for an endpoint with batches is a batch of one", () => {
  const { headers, body } = send(ours, "cloudevents-batch");
  expect(headers).toEqual({ "content-type": "application/cloudevents-batch+json; charset=utf-8" });
  expect(decodeBatch(body)).toMatchObject({ ok: true, value: [{ event: { id: `evt_${EVENT_UUID}` } }] });
});

test("an event published as a CloudEvent is sent unchanged", () => {
  const expected = {
    ok: true,
    value: {
      id: "A 1",
      source: "/shop",
      type: "com.Shop",
      datacontenttype: "image/png",
      extensions: { n: 5 },
      data: { kind: "binary", bytes: Uint8Array.of(0, 255, 10) },
    },
  };
  expect(decodeStructured(send(foreign, "cloudevents").body)).toEqual(expected);
  const { headers, body } = send(foreign, "cloudevents-binary");
  const attributes = new Map(Object.entries(headers).filter(([name]) => name.startsWith("ce-")));
  expect(decodeBinary(attributes, headers["content-type"] ?? null, body)).toEqual({
    ...expected,
    value: { ...expected.value, extensions: { n: "5" } },
  });
});

test("bare data is sent with its original bytes and content type", () => {
  expect(send(foreign, "data")).toMatchObject({
    headers: { "content-type": "image/png" },
    body: Uint8Array.of(0, 255, 10),
  });
});

test("an envelope contains the attributes of the event", () => {
  expect(JSON.parse(send(foreign, "envelope").text)).toMatchObject({
    attributes: foreign.attributes,
    data: "AP8K",
  });
  expect(JSON.parse(send(ours, "envelope").text)).not.toHaveProperty("attributes");
});
