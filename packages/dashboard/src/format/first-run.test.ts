import type { Endpoint, Event, EventType } from "@posthorn/client";
import { expect, test } from "vitest";
import { exampleOf, progressOf, publishCommand } from "./first-run.ts";

const endpointAt = (url: string, tenant: string) => ({ url, tenant }) as Endpoint;
const event = (type: string) => ({ type }) as Event;
const sink = endpointAt("http://127.0.0.1:8400/sink/demo", "demo");
const own = endpointAt("https://shop.example/webhooks", "acme");
const nothing = { hasSink: false, tenants: [], endpoints: [], events: [] };

test("a new installation has no progress and no tenant", () => {
  expect(progressOf(nothing)).toEqual({ sink: null, own: null, tenant: null, sent: null });
  expect(progressOf({ ...nothing, tenants: [{ id: "acme" }] }).tenant).toBe("acme");
});

test("events belong to the tenant of the sink, or else of the newest endpoint", () => {
  const found = { ...nothing, endpoints: [own, sink] };
  expect(progressOf({ ...found, hasSink: true })).toMatchObject({ sink, own, tenant: "demo" });
  expect(progressOf(found)).toMatchObject({ sink: null, own, tenant: "acme" });
});

test("events that Posthorn publishes itself do not count", () => {
  const found = { ...nothing, events: [event("webhook.test"), event("webhook.endpoint.disabled")] };
  expect(progressOf(found).sent).toBeNull();
  expect(progressOf({ ...found, events: [...found.events, event("webhooks")] }).sent?.type).toBe("webhooks");
});

test("a later event of another tenant does not undo a step", () => {
  const events = [
    { type: "order.paid", tenant: "acme" },
    { type: "order.paid", tenant: "demo" },
  ] as Event[];
  const found = { ...nothing, hasSink: true, endpoints: [sink], events };
  expect(progressOf(found).sent?.tenant).toBe("demo");
  expect(progressOf({ ...found, events: events.slice(0, 1) }).sent?.tenant).toBe("acme");
});

test("the example uses an event type of the catalogue", () => {
  const types = [
    { name: "a.b", example: null },
    { name: "c.d", example: { id: 1 } },
  ] as EventType[];
  expect(exampleOf(types)).toEqual({ type: "c.d", data: { id: 1 } });
  expect(exampleOf(types.slice(0, 1))).toEqual({ type: "a.b", data: {} });
  expect(exampleOf([]).type).toBe("order.paid");
});

test("the command is safe to paste with any example", () => {
  const command = publishCommand("http://127.0.0.1:8400", "acme", { type: "a.b", data: "it's $(id)" });
  expect(command).toContain(`-d '{"tenant":"acme","type":"a.b","data":"it\\u0027s $(id)"}'`);
});
