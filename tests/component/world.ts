// Endpoints with their receivers, and events for them.
import type { ScriptedReceiver, ScriptedStep } from "posthorn/testing";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";

/** A server whose tenant acme has one endpoint. */
export async function startWithEndpoint(answer: ScriptedStep = 200, settings: object = {}) {
  const receiver = await startReceiver(answer);
  const server = await startServer();
  return { receiver, server, endpoint: await createEndpoint(server, receiver, settings) };
}

/** Returns the path of the endpoint in the API. */
export const createEndpoint = async (
  server: TestServer,
  { url }: Pick<ScriptedReceiver, "url">,
  settings: object = {},
  tenant = "acme",
) => (await server.newEndpoint({ url, ...settings }, tenant)).path;

export const publish = (server: TestServer, order = 1, event: object = {}) =>
  server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.paid",
    subject: "order-1",
    data: { order, total: 10 * order },
    ...event,
  });
