import type { EventType } from "@posthorn/client";
import { expect, test } from "vitest";
import { bodyOfType, EMPTY_TYPE, formOfType } from "./event-type-form.ts";

const type: EventType = {
  name: "order.paid",
  api_version: "2",
  description: "An order was paid",
  schema: { type: "object" },
  example: { amount: 5 },
  redact: ["/card", "/lines/*/price"],
  deprecated: true,
  created_at: "2026-11-15T09:30:00.000Z",
  updated_at: "2026-11-15T09:30:00.000Z",
};

test("saving an unchanged form keeps the event type", () => {
  const { name: _, created_at: _c, updated_at: _u, ...settings } = type;
  expect(bodyOfType(formOfType(type))).toEqual(settings);
});

test("empty fields are sent as null", () => {
  expect(bodyOfType(EMPTY_TYPE)).toEqual({
    api_version: "1",
    description: null,
    schema: null,
    example: null,
    redact: [],
    deprecated: false,
  });
});

test.each(["schema", "example"])("nothing is sent while the %s is not valid JSON", (field) => {
  expect(bodyOfType({ ...formOfType(type), [field]: "{" })).toBeNull();
});
