import type { Endpoint, Event, EventType } from "@posthorn/client";
import { expect, test } from "vitest";
import { exampleOf, progressOf, publishCommand } from "./first-run.ts";

const sink = { url: "http://127.0.0.1:8400/sink/demo", tenant: "demo" } as Endpoint;
const nothing = { hasSink: false, tenants: [], endpoints: [], events: [] };

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
