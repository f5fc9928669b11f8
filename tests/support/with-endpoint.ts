// A tenant with an endpoint, and the receiver behind it.
import { startScriptedReceiver } from "posthorn/testing";
import { onTestFinished } from "vitest";
import type { TestServer } from "./start-server.ts";

export async function withEndpoint(server: TestServer, input: object = {}) {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme", { name: "Acme Ltd" });
  const { json } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/in`,
    events: ["order.*"],
    ...input,
  });
  return { receiver, id: json.id, secret: json.secret, path: `/tenants/acme/endpoints/${json.id}` };
}
