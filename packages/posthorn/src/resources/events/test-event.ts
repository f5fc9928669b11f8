// Sends a test event to one endpoint, whatever it subscribes to, as a normal delivery. The event is stored as a test, so
// that it is not mistaken for a published one.
import { formatId, parseId } from "@posthorn/wire";
import { refuseUnknown } from "../../did-you-mean.ts";
import { validate } from "../../event/validate.ts";
import { deliveryIdOf } from "../../fan-out/delivery-id.ts";
import { TEST_TYPE } from "../../fan-out/matches.ts";
import type { Event, Uuid } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import { enqueueForOne } from "../../storage/queries/queue/requeue.ts";
import { pausedError } from "../deliveries/delivery-changes.ts";
import { knownEndpoint, refuseSubscription } from "../endpoints/changes.ts";

export interface TestEventInput {
  /** Default `webhook.test`. Not checked against the catalogue, so that a receiver can be tested with invalid events. */
  readonly type?: string | undefined;
  /** Default: a short message with the endpoint's id. */
  readonly data?: unknown;
  readonly subject?: string | null | undefined;
}

export type SendTest = (
  tenant: string,
  id: string,
  input?: TestEventInput,
) => Promise<{ eventId: string; deliveryId: string }>;

export interface SendTestOptions {
  readonly db: Database;
  readonly nowMs: () => number;
  readonly apiVersion: string;
  /** Called after the commit, to notify the lane's owner. */
  readonly onQueued: (endpointId: Uuid, owner: number | null) => void;
}

export function createSendTest({ db, nowMs, apiVersion, onQueued }: SendTestOptions): SendTest {
  return async (tenant, id, input = {}) => {
    refuseUnknown("A test event has no field", input, ["type", "data", "subject"], "invalid_event");
    refuseSubscription(
      await knownEndpoint(db, tenant, id),
      "which only receives events of its topic. Publish to the topic instead.",
    );
    const endpointId = parseId("ep", id) as Uuid;
    const event = testEvent(tenant, id, input, nowMs(), apiVersion);
    const delivery = { id: deliveryIdOf(event.id, endpointId), endpointId, trigger: "test" } as const;
    const result = await enqueueForOne(db, event, delivery);
    if (result.kind === "paused") throw pausedError(result.because, "send the test event");
    onQueued(endpointId, result.owner);
    return { eventId: formatId("evt", event.id), deliveryId: formatId("dlv", delivery.id) };
  };
}

function testEvent(
  tenant: string,
  endpointId: string,
  input: TestEventInput,
  atMs: number,
  apiVersion: string,
): Event {
  const { type = TEST_TYPE, data = greeting(endpointId), subject } = input;
  // `validate` rejects the types of Posthorn itself
  const checkedType = type === TEST_TYPE ? "test" : type;
  const checked = { tenant, type: checkedType, data, subject: subject ?? undefined };
  const { event } = validate(checked, atMs, apiVersion);
  return { ...event, type };
}

function greeting(endpointId: string): unknown {
  return { message: "This is a test event.", endpoint_id: endpointId };
}
