// The request of an attempt: what each scope sees of it, and a freshly signed one.
import { verify } from "@posthorn/wire";
import { expect, test } from "vitest";
import { eventually } from "../../../../tests/support/eventually.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import { sharedServer } from "../../../../tests/support/servers/start-server.ts";

const server = sharedServer();

async function deliverOne() {
  const receiver = await startReceiver();
  const { tenant, secret } = await server.newEndpoint({
    url: `${receiver.url}/hook?token=their-token`,
    headers: { Authorization: "Bearer their-own" },
  });
  await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: { total: 1 } });
  const { json } = await server.call("GET", `/api/v1/deliveries?tenant=${tenant}`);
  const path = `/api/v1/deliveries/${json.data[0].id}`;
  await eventually("it is delivered", async () => (await server.call("GET", path)).json.state === "success");
  const requestAs = async (scopes: readonly string[], query = "") =>
    await server.call("GET", `${path}/request${query}`, undefined, await server.keyHeaders(scopes, tenant));
  return { tenant, path, requestAs, secret };
}

test("a reader sees neither credentials nor signatures of the request", async () => {
  const { requestAs } = await deliverOne();
  const { json, text } = await requestAs(["deliveries:read"]);
  expect(json.redacted_parts).toEqual(["url", "Authorization", "X-Webhook-Signature", "webhook-signature"]);
  expect(text).not.toMatch(/their-own|their-token|v1[=,]/);
  const managed = await requestAs(["deliveries:read", "webhooks:manage"]);
  expect(managed.json.redacted_parts).toEqual(["X-Webhook-Signature", "webhook-signature"]);
});

test("a freshly signed request is accepted by the receiver, and is audited", async () => {
  const { tenant, path, secret, requestAs } = await deliverOne();
  await server.call("GET", `${path}/request`);
  const log = () => server.call("GET", `/api/v1/audit-log?action=deliveries.request&tenant=${tenant}`);
  expect((await log()).json.data).toEqual([]);
  const { json, headers } = await requestAs(
    ["deliveries:read", "webhooks:manage", "payloads:read"],
    "?fresh=true&attempt=1",
  );
  expect(json).toMatchObject({ is_fresh: true, is_exact: false, redacted_parts: [] });
  expect(headers.get("cache-control")).toContain("no-store");
  const body = Buffer.from(json.body);
  for (const scheme of ["t-v1", "standard-webhooks"])
    expect(await verify({ scheme, headers: json.headers, body, secrets: [secret] })).toEqual({ ok: true });
  const logged = await log();
  expect(logged.json.data).toMatchObject([
    {
      tenant,
      target: { delivery: path.split("/").at(-1) },
      changes: { attempt: 1, fresh: true },
      status: 200,
    },
  ]);
  expect(logged.text).not.toContain(json.headers["webhook-signature"]);
  for (const query of ["?attempt=0", "?attempt=1000001", "?fresh=yes"])
    expect((await server.call("GET", `${path}/request${query}`)).json.code).toBe("invalid_parameter");
});
