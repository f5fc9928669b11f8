// "Send a test event": `webhook.test` to one endpoint, whatever it subscribes to, by the path of every delivery.
import { formatId, parseId, uuidv7 } from "@posthorn/wire";
import { deliveryIdOf } from "../fan-out/delivery-id.ts";
import { TEST_TYPE } from "../fan-out/matches.ts";
import type { Event, Uuid } from "../model.ts";
import type { Database } from "../storage/database.ts";
import { oweEvent } from "../storage/queries/queue/owe.ts";
import { closedError } from "./delivery-changes.ts";
import type { Endpoints } from "./endpoints.ts";

export type SendTest = (tenant: string, id: string) => Promise<{ eventId: string; deliveryId: string }>;

export interface SendTestOptions {
  readonly db: Database;
  readonly find: Endpoints["get"];
  readonly nowMs: () => number;
  /** After the commit, so that the lane's owner can be told. */
  readonly onOwed: (endpointId: Uuid, owner: number | null) => void;
}

export function createSendTest({ db, find, nowMs, onOwed }: SendTestOptions): SendTest {
  return async (tenant, id) => {
    await find(tenant, id);
    const endpointId = parseId("ep", id) as Uuid;
    const at = nowMs();
    const event: Event = {
      id: uuidv7(at),
      tenant,
      type: TEST_TYPE,
      apiVersion: "1",
      subject: null,
      sequence: null,
      payload: Buffer.from(JSON.stringify({ message: "This is a test event.", endpoint_id: id })),
      createdAt: new Date(at),
    };
    const delivery = { id: deliveryIdOf(event.id, endpointId), endpointId, trigger: "test" } as const;
    const result = await oweEvent(db, event, delivery);
    if (result.kind === "closed") throw closedError(result.because, "send the test event");
    onOwed(endpointId, result.owner);
    return { eventId: formatId("evt", event.id), deliveryId: formatId("dlv", delivery.id) };
  };
}
