import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../../../tests/support/start-server.ts";

const traceparent = "00-11111111111111111111111111111111-2222222222222222-01";
const order = { tenant: "acme", type: "order.paid", data: 1 };

test("deliveries continue the traceparent of the publishing request; an invalid one is ignored", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme", {});
  await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/hooks`,
    events: ["*"],
  });
  const publish = async (body: unknown, headers: Record<string, string>) =>
    expect((await server.call("POST", "/api/v1/events", body, headers)).status).toBe(202);
  await publish(order, { traceparent });
  await publish([order, order], { traceparent });
  await receiver.received(3);
  await publish(order, { traceparent: "00-wrong" });
  await receiver.received(4);
  await server.call("PUT", "/api/v1/tenants/acme/members/anna", { role: "member" });
  await publish({ user: "anna", type: "user.invited", data: 1 }, { traceparent });
  await receiver.received(5);
  expect(receiver.requests.map(({ headers }) => headers.traceparent)).toEqual([
    traceparent,
    traceparent,
    traceparent,
    undefined,
    traceparent,
  ]);
});
