// A valid body for every operation that needs one, for tests of the whole contract.
import type { contract } from "@posthorn/client";
import { adminKey } from "../servers/start-server.ts";

export type OperationId = {
  [Resource in keyof typeof contract]: `${Resource}.${keyof (typeof contract)[Resource] & string}`;
}[keyof typeof contract];

const endpointInput = { url: "https://hooks.example/in", events: ["*"] };

/** Returns a valid body for every operation that needs one, about this tenant. */
export const bodies: Partial<Record<OperationId, (tenant: string) => unknown>> = {
  "events.publish": (tenant) => ({ tenant, type: "order.paid", data: {} }),
  "events.resend": () => ({ endpoint: "ep_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10" }),
  "events.resendEdited": () => ({
    endpoint: "ep_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
    data_json: "{}",
  }),
  "eventTypes.put": () => ({}),
  "eventTypes.import": () => ({ document: {} }),
  "tenants.put": () => ({}),
  "members.put": () => ({ role: "member" }),
  "endpoints.create": () => endpointInput,
  "endpoints.import": () => ({ endpoints: [endpointInput] }),
  "endpoints.match": () => ({ type: "order.paid", data: {} }),
  "endpoints.update": () => ({ description: "taken over" }),
  "deliveries.deleteDead": (tenant) => ({ tenant }),
  "events.releaseRejected": (tenant) => ({ tenant }),
  "events.discardRejected": (tenant) => ({ tenant }),
  "deliveryMode.set": () => ({ mode: "on" }),
  "replays.start": (tenant) => ({ tenant }),
  "session.create": () => ({ key: adminKey }),
  "keys.create": (tenant) => ({ name: "taken over", scopes: ["admin"], tenant }),
};
