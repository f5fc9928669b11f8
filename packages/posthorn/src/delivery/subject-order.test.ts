import { expect, test } from "vitest";
import type { ClaimedDelivery } from "../model.ts";
import { SubjectOrder } from "./subject-order.ts";

function delivery(subject: string | null, sequence: number, isOrdered = subject !== null): ClaimedDelivery {
  const id = `${subject} ${sequence}`;
  const event = { id, tenant: "t", type: "a", apiVersion: "1", subject, sequence, payload: Buffer.alloc(0) };
  return {
    id,
    event: { ...event, createdAt: new Date(0) },
    endpointId: "e",
    attempts: 0,
    failures: 0,
    scheduleStartedMs: 0,
    trigger: "event",
    isOrdered,
  };
}

function lineOf(order: SubjectOrder, ...deliveries: ClaimedDelivery[]): ClaimedDelivery[] {
  const waiting: ClaimedDelivery[] = [];
  for (const one of deliveries) order.lineUp(one, waiting);
  return waiting;
}

test("deliveries queue in order of arrival, but by sequence within a subject", () => {
  const order = new SubjectOrder();
  const line = lineOf(
    order,
    delivery("s", 6),
    delivery("t", 1),
    delivery("s", 7),
    delivery("s", 5),
    delivery("s", 9),
  );
  expect(line.map(({ id }) => id)).toEqual(["s 5", "s 6", "t 1", "s 7", "s 9"]);
});

test("a delivery is skipped until the one in flight in its subject is settled", () => {
  const order = new SubjectOrder();
  const line = lineOf(order, delivery("s", 2), delivery("t", 1));
  expect(order.firstFree(line)).toBe(0);
  order.begin(delivery("s", 1));
  expect(order.firstFree(line)).toBe(1);
  order.begin(delivery("t", 0));
  expect(order.firstFree(line)).toBe(-1);
  order.end(delivery("s", 1));
  expect(order.firstFree(line)).toBe(0);
});

test("unordered deliveries do not wait, whatever their subject", () => {
  const order = new SubjectOrder();
  order.begin(delivery("s", 1));
  order.begin(delivery("s", 2, false));
  const line = lineOf(order, delivery("s", 9, false), delivery("s", 3, false), delivery(null, 0));
  expect(line.map(({ id }) => id)).toEqual(["s 9", "s 3", "null 0"]);
  expect(order.firstFree(line)).toBe(0);
  expect(order.firstFree([])).toBe(-1);
});
