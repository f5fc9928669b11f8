// Sign-in, keys, audit log, system, catalogue and the portal.
import { waitFor } from "@testing-library/react";
import { expect, onTestFinished, test, vi } from "vitest";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { deliverFirstEvent, SINK_ID } from "../../packages/server/src/cli/local/dev-demo.ts";
import { operatorLink } from "../../packages/server/src/cli/local/serving.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { adminKey, startServer } from "../support/servers/start-server.ts";
import { ORIGIN } from "./dom.ts";
import { openDashboard, openPortal } from "./render.tsx";
import { createEndpoint, publish, startWithEndpoint } from "./world.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

test("a key is created once by a double click, shown once and revoked; the audit log has both", async () => {
  const { ui, changes } = await openDashboard(await startServer({ started: false }), "/keys");
  const dialog = await ui.openDialog("New key");
  await dialog.fill("Name", "billing");
  await dialog.check("events:publish");
  await dialog.click("Create", { times: 2 });
  await dialog.see(/phk_\w+/);
  const [key] = /phk_\w+/.exec(dialog.text()) ?? [];
  expect(changes).toEqual(["POST /api/v1/keys"]);
  await dialog.click("Close");
  await (await (await ui.row("billing")).openDialog("Revoke")).click("Revoke");
  await ui.rows(0);
  await ui.click("Audit log");
  await ui.see("keys.revoke", "keys.create");
  expect(ui.text()).not.toContain(String(key));
});

test("the overview shows failing endpoints and links to the getting-started page until an event is published", async () => {
  const receiver = await startReceiver({ status: 500, body: "broken" });
  const server = await startServer();
  const { ui } = await openDashboard(server, "/");
  await ui.see("No event has been published yet.");
  await createEndpoint(server, receiver, { retry_policy: "20m" });
  await publish(server);
  await ui.see("1 failure", "The receiver returned HTTP 500");
  await ui.gone("No event has been published yet.");
});

test("an event type is created, an example that violates the schema is rejected, and a version is added and deleted", async () => {
  const server = await startServer({ started: false });
  const schema = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] };
  const { ui } = await openDashboard(server, "/catalogue");
  await ui.see("The catalogue is empty");
  const dialog = await ui.openDialog("New event type");
  await dialog.fill("Name", "order.paid");
  await dialog.fill("JSON Schema of the data", JSON.stringify(schema));
  await dialog.fill("Example", '{"card"');
  expect((await dialog.control("Save")).getAttribute("aria-disabled")).toBe("true");
  await dialog.fill("Example", '{"card":"4242"}');
  await dialog.fill("Redacted paths", "/card");
  await dialog.click("Save");
  await dialog.rejected("Example");
  await dialog.fill("Example", '{"amount":5,"card":"4242"}');
  await dialog.click("Save");
  await ui.see("No endpoint is subscribed.", "/card");
  const edit = await ui.openDialog("Edit");
  await edit.fill("Version", "2");
  await edit.check("Deprecated");
  await edit.click("Save");
  await ui.see("deprecated");
  const { json } = await server.call("GET", "/api/v1/event-types/order.paid?api_version=1");
  expect(json).toMatchObject({ versions: ["1", "2"], deprecated: false, redact: ["/card"] });
  await (await ui.openDialog("Delete version")).click("Delete version");
  await ui.see("Version deleted.");
  await ui.rows(1);
});

test("an OpenAPI document is imported after a preview, and the catalogue is exported", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/event-types/order.paid", {});
  const { json: exported } = await server.call("GET", "/api/v1/event-types/export");
  const { ui } = await openDashboard(server, "/catalogue");
  const dialog = await ui.openDialog("Import");
  await dialog.fill("Document", JSON.stringify(exported).replaceAll("order.paid", "order.sent"));
  await dialog.click("Preview");
  await dialog.see("new", "order.sent");
  expect((await server.call("GET", "/api/v1/event-types/order.sent")).status).toBe(404);
  await dialog.click("Import");
  await ui.row("order.sent");
  const download = vi.spyOn(HTMLElement.prototype, "click").mockImplementation(() => {});
  const file = vi.spyOn(URL, "createObjectURL");
  onTestFinished(() => void vi.restoreAllMocks());
  await ui.click("Export OpenAPI");
  await waitFor(() => expect(download).toHaveBeenCalled());
  const written = await new Response(file.mock.calls[0]?.[0] as Blob).json();
  expect(Object.keys(written.webhooks)).toEqual(["order.paid-1", "order.sent-1"]);
});

test("a CloudEvent shows its attributes, and that its data is binary", async () => {
  const server = await startServer({ started: false });
  const event = {
    specversion: "1.0",
    id: "7",
    source: "/shop",
    type: "com.Example.Order-Paid",
    region: "eu",
    datacontenttype: "application/xml",
    data_base64: Buffer.from("<order/>").toString("base64"),
  };
  const headers = { "content-type": "application/cloudevents+json" };
  const { json } = await server.call("POST", "/api/v1/events?tenant=acme", event, headers);
  const { ui } = await openDashboard(server, `/events/${json.id}`);
  await ui.see("CloudEvent attributes", "/shop", "com.Example.Order-Paid", "application/xml");
  await ui.see("Binary data, shown as base64.", "The tenant had no endpoint.");
});

test("a portal session without the permission to manage endpoints offers no changes", async () => {
  const server = await startServer({ started: false });
  await createEndpoint(server, { url: "http://127.0.0.1:4999/in" });
  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", {
    scopes: ["deliveries:read"],
  });
  const { ui } = await openPortal(server, json.url);
  await ui.row("http://127.0.0.1:4999/in");
  expect(ui.has("Add endpoint")).toBe(false);
  await ui.open("http://127.0.0.1:4999/in");
  await ui.see("No attempts yet");
  for (const name of ["Settings", "Secrets", "Disable", "Delete"]) expect(ui.has(name)).toBe(false);
});

test("a pasted request is verified without sending it or the secret", async () => {
  const { receiver, server } = await startWithEndpoint(200, { secret: SECRET });
  await publish(server, 1, { data: { note: "Grüße" } });
  await receiver.received(1);
  const { headers, body } = receiver.requests[0] ?? { headers: {}, body: "" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { ui, changes } = await openDashboard(server, "/verify");
  await ui.fill("Request", `${lines.join("\n")}\n\n${body}`);
  await ui.fill("Secret", SECRET);
  await ui.click("Verify");
  await ui.see("t-v1: Valid signature");
  await ui.fill("Request", `${lines.join("\n")}\n\n${body} `);
  await ui.click("Verify");
  await ui.see("t-v1: Invalid signature");
  await ui.fill("Signature scheme", "github");
  await ui.see("Requests are signed like those of github", 'headers.get("X-Hub-Signature-256")');
  expect(changes).toEqual([]);
});

test("an endpoint is added once by a double click in the portal", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/event-types/order.paid", {});
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const { ui, changes } = await openPortal(server, json.url);
  await ui.click("Add endpoint");
  await ui.fill("URL", "http://127.0.0.1:4999/in");
  await ui.check("order.paid");
  expect((await ui.field(/^All event types/)).checked).toBe(false);
  await ui.click("Add endpoint", { times: 2 });
  await ui.see("whsec_");
  expect(changes).toEqual(["POST /api/v1/tenants/acme/endpoints"]);
});

test("without a sink the getting-started page asks for an endpoint first, and the event is delivered to it", async () => {
  const receiver = await startReceiver();
  const server = await startServer();
  const { ui } = await openDashboard(server, "/first-run");
  await ui.see("This server has no built-in sink");
  const titles = [...document.querySelectorAll("main h2")].map(({ textContent }) => textContent);
  expect(titles).toEqual(["Add your own endpoint", "Publish an event", "See it delivered"]);
  expect((await ui.control("Publish an event")).getAttribute("aria-disabled")).toBe("true");
  await ui.fill("Tenant", "acme");
  await ui.fill("URL", "ftp://example.com");
  await ui.click("Add endpoint");
  await ui.rejected("URL");
  await ui.fill("URL", receiver.url);
  await ui.click("Add endpoint");
  await ui.click("Send test event");
  await ui.see("Add your own endpoint – done");
  await ui.click("Publish an event");
  await ui.see("Publish an event – done", "See it delivered – done", "All done.");
});

test("with a sink the getting-started page publishes to it first", async () => {
  const sink = new Sink();
  const server = await startServer({ sink: { sink, readers: "public" } });
  await deliverFirstEvent(server.hooks, sink, `${server.url}/sink/${SINK_ID}`, 10_000);
  expect(await operatorLink(server.hooks, server.url, adminKey)).toContain("/first-run#code=");
  const { ui } = await openDashboard(server, "/first-run");
  await ui.click("Publish an event");
  await ui.see("Publish an event – done", "See it delivered to the sink – done", "Add your own endpoint");
  expect(sink.requests(SINK_ID)[0]?.headers["x-webhook-event"]).toBe("order.paid");
  expect(await operatorLink(server.hooks, server.url, adminKey)).toContain(`${server.url}/#code=`);
});

test("signing out ends the session and shows the sign-in", async () => {
  const { ui, changes } = await openDashboard(await startServer({ started: false }), "/keys");
  await ui.click("Sign out");
  await ui.field("API key");
  expect(changes).toEqual(["DELETE /api/v1/session"]);
  expect((await fetch(`${ORIGIN}/api/v1/session`)).status).toBe(401);
});

test("an invalid key is rejected at the sign-in", async () => {
  const respond = ({ method, path }: { readonly method: string; readonly path: string }) =>
    path === "/api/v1/session" && method === "GET" ? new Response(null, { status: 401 }) : undefined;
  const { ui } = await openDashboard(await startServer({ started: false }), "/", { respond });
  await ui.fill("API key", "phk_wrong_key_of_nobody_at_all_0123456789");
  await ui.click("Sign in");
  await ui.see("This key is not valid.");
});

test("delivery is turned off on the system page, and every page has a banner until it is on", async () => {
  const server = await startServer();
  const { ui, changes } = await openDashboard(server, "/system");
  await ui.see("on: deliveries are sent", "the start-up setting");
  const dialog = await ui.openDialog("Turn on or off");
  await dialog.fill("Mode", "hold");
  await dialog.fill("Note", "receivers migrate");
  await dialog.click("Apply");
  await ui.see(
    "Delivery is off for all tenants. New events wait until it is on.",
    "receivers migrate",
    "admin",
  );
  expect(changes).toEqual(["PUT /api/v1/delivery-mode"]);
  await ui.click("Audit log");
  await ui.see("deliveryMode.set", "Delivery is off for all tenants.");
  await server.call("PUT", "/api/v1/delivery-mode", { mode: "on" });
  const reopened = await openDashboard(server, "/system");
  await reopened.ui.see("on: deliveries are sent");
  await reopened.ui.gone("Delivery is off for all tenants.");
});
