// An endpoint in the dashboard: health, filter, test event, settings, signatures, consent and backlog.
import { waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { sharedServer, startServer } from "../support/servers/start-server.ts";
import { openDashboard } from "./render.tsx";

const shared = sharedServer();

/** Creates a tenant with an endpoint, and its receiver. */
async function withEndpoint(input: object = {}, server = shared) {
  const receiver = await startReceiver();
  const tenant = await server.newTenant({ name: "Acme Ltd" });
  const endpoint = { url: `${receiver.url}/in`, events: ["order.*"], ...input };
  const { path } = await server.newEndpoint(endpoint, tenant);
  return { receiver, tenant, path: path.replace("/api/v1", "") };
}

test("the list of endpoints is filtered by failing ones and shows the problem", async () => {
  const server = await startServer();
  await withEndpoint({}, server);
  const broken = await withEndpoint({}, server);
  broken.receiver.answer("/in", 500);
  await server.call("POST", "/api/v1/events", { tenant: broken.tenant, type: "order.paid", data: 1 });
  await broken.receiver.received(1);
  const { ui, path } = await openDashboard(server, "/endpoints");
  await ui.rows(2);
  await ui.fill("State", "failing");
  await ui.rows(1);
  expect(path()).toBe("/endpoints?which=failing");
  await ui.row("The receiver returned HTTP 500");
  await ui.open("degraded");
  await ui.see("The last attempt failed.", "Check its logs for this event id.");
});

test("a filter is tested with an example before it is saved, and an invalid one is rejected", async () => {
  const { path } = await withEndpoint();
  await shared.call("PUT", "/api/v1/event-types/order.paid", { example: { amount: 50 } });
  const { ui } = await openDashboard(shared, `${path}?tab=filter`);
  await ui.fill("Filter", '{"data":{"amount":{"$gte":100}}}');
  await ui.fill("Use an example from the catalogue", "order.paid");
  const form = [...document.querySelectorAll("button")].filter(({ textContent }) => textContent === "Test");
  form.at(-1)?.click();
  await ui.see("This event does not match.");
  await ui.fill("Filter", '{"data":{"amount":{"$gt3":100}}}');
  await ui.click("Save");
  await ui.rejected("Filter");
  await ui.fill("Filter", '{"data":{"amount":{"$gte":100}}}');
  await ui.click("Save");
  await ui.see("Saved. The filter applies to new events.");
  const { json } = await shared.call("GET", `/api/v1${path}`);
  expect(json.filter).toEqual({ data: { amount: { $gte: 100 } } });
});

test("a test event is edited, sent, and its response is shown as text", async () => {
  const { receiver, path } = await withEndpoint();
  receiver.answer("/in", { status: 200, body: Buffer.from("thank you <b>so</b> much") });
  const { ui } = await openDashboard(shared, `${path}?tab=test`);
  await ui.fill("Event type", "Order.Paid");
  await ui.click("Send test event");
  await ui.rejected("Event type");
  await ui.fill("Event type", "order.paid");
  await ui.fill("Subject", "order-7");
  await ui.fill("Data", '{"amount":5}');
  await ui.click("Send test event");
  await ui.see("thank you <b>so</b> much", "delivered");
  const body = JSON.parse(String(receiver.requestsTo("/in")[0]?.body));
  expect(body).toMatchObject({ type: "order.paid", subject: "order-7", data: { amount: 5 } });
});

test("the outcome of a test event is shown without the live stream", async () => {
  const { receiver, path } = await withEndpoint();
  const respond = ({ path: asked }: { readonly path: string }) =>
    asked === "/live" ? new Response(null, { status: 503 }) : undefined;
  const { ui } = await openDashboard(shared, `${path}?tab=test`, { respond });
  // the first poll sees the delivery in flight
  receiver.answer("/in", { until: ui.see("in flight"), body: "thank you" });
  await ui.click("Send test event");
  await ui.see("thank you");
});

test("only changed settings are saved, and a rejected one is marked", async () => {
  const { path } = await withEndpoint();
  const { ui } = await openDashboard(shared, `${path}?tab=settings`);
  expect((await ui.control("Save")).getAttribute("aria-disabled")).toBe("true");
  await ui.fill("Timeout in ms", "99");
  await ui.fill("Event types", "order.paid\ninvoice.*");
  await ui.fill("Custom headers", "X-Team: billing");
  await ui.click("Save");
  await ui.rejected("Timeout in ms");
  await ui.fill("Timeout in ms", "2500");
  // a concurrent change is not reverted
  await shared.call("PATCH", `/api/v1${path}`, { description: "theirs" });
  await ui.click("Save");
  await ui.see("Saved. Applies from the next attempt.");
  const { json } = await shared.call("GET", `/api/v1${path}`);
  expect(json).toMatchObject({
    description: "theirs",
    timeout_ms: 2_500,
    events: ["order.paid", "invoice.*"],
    headers: { "X-Team": "billing" },
  });
});

test("circuit, disabling, envelope names and a labelled signature are settings of the form", async () => {
  const { path } = await withEndpoint();
  const { ui } = await openDashboard(shared, `${path}?tab=settings`);
  await ui.see("circuit after 10 failures, disabled after 50 failures");
  await ui.fill("Failures in an hour that open the circuit (0: none)", "10001");
  await ui.fill("Days without a success that disable the endpoint (0: never)", "0");
  await ui.fill("Names of envelope fields", "tenant_id: team_id");
  await ui.fill("Scheme with its own label", "sha256:sha256_v2");
  await ui.check(/^t-v1/);
  await ui.click("Save");
  await ui.rejected("Failures in an hour that open the circuit (0: none)");
  await ui.fill("Failures in an hour that open the circuit (0: none)", "100");
  await ui.click("Save");
  await ui.see("Saved. Applies from the next attempt.");
  const { json } = await shared.call("GET", `/api/v1${path}`);
  expect(json).toMatchObject({
    circuit_breaker: { failures: 10, failure_percent: 50, failures_per_hour: 100, pause_ms: 30_000 },
    disable_after: { failures: 50, days: 0 },
    envelope_fields: { tenant_id: "team_id" },
    signature: { schemes: ["standard-webhooks", "sha256:sha256_v2"] },
  });
});

test("the current limit on attempts in flight is shown with its range, which a fixed limit does not have", async () => {
  const { path } = await withEndpoint();
  const { ui } = await openDashboard(shared, path);
  await ui.see("At most 5 now");
  await ui.see("5 to 50: more while responses are fast and successful.");
  await ui.click("Settings");
  await ui.fill("Concurrent attempts", "1");
  await ui.click("Save");
  await ui.see("Saved. Applies from the next attempt.");
  const { json } = await shared.call("GET", `/api/v1${path}`);
  expect(json).toMatchObject({ max_in_flight: 1, max_in_flight_burst: 1 });
});

test("disabling can be undone, and enabling shows the backlog and discards it on request", async () => {
  const { receiver, tenant, path } = await withEndpoint();
  const { ui } = await openDashboard(shared, path);
  await (await ui.openDialog("Disable")).click("Disable");
  await ui.see("Disabled manually. Deliveries are kept.");
  await ui.click(/^Undo/);
  await (await ui.openDialog("Disable")).click("Disable");
  await ui.see("Disabled manually. Deliveries are kept.");
  for (const data of [1, 2, 3])
    await shared.call("POST", "/api/v1/events", { tenant, type: "order.paid", data });
  const dialog = await ui.openDialog("Enable");
  await dialog.see("Backlog: 3 deliveries.");
  await dialog.check(/^Discard the backlog/);
  await dialog.click("Enable");
  await ui.see("Endpoint enabled.");
  expect(receiver.requestsTo("/in")).toEqual([]);
  const dead = await shared.call("GET", `/api/v1/deliveries?state=dead&reason=discarded&tenant=${tenant}`);
  expect(dead.json.data).toHaveLength(3);
});

test("an endpoint with a vendor's signature and a token shows its headers and never the token", async () => {
  const { ui } = await openDashboard(shared, `/tenants/${await shared.newTenant()}`);
  const dialog = await ui.openDialog("New endpoint");
  await dialog.fill("URL", "http://127.0.0.1:4999/in");
  await dialog.check("github");
  await dialog.check("standard-webhooks");
  await dialog.fill("Secret", "text of an older sender");
  await dialog.fill("Encoding of the secret", "text");
  await dialog.fill("Secret for github", "what GitHub's receivers have");
  await dialog.fill("Token", "bearer");
  await dialog.fill("Token value", "not a token");
  await dialog.click("Create");
  await dialog.rejected("Token value");
  await dialog.fill("Token value", "opaque-token");
  await dialog.click("Create");
  await dialog.click("Close");
  await ui.see(
    "X-Hub-Signature-256, X-GitHub-Event, X-GitHub-Delivery",
    "Set. Sent in the Authorization header.",
  );
  expect(ui.text()).not.toContain("opaque-token");
});

test("the secret of one scheme is rotated, the old one is revoked, and a token is removed without undo", async () => {
  const { receiver, path } = await withEndpoint({
    signature: { schemes: ["standard-webhooks", "github"] },
    scheme_secrets: { github: "what GitHub's receivers have" },
    authorization: { type: "bearer", token: "opaque-token" },
  });
  const { ui } = await openDashboard(shared, `${path}?tab=secrets`);
  await ui.see("only for github");
  const dialog = await ui.openDialog("Rotate");
  await dialog.fill("Scheme", "github");
  await dialog.fill("Custom secret", "00");
  await dialog.fill("Encoding of the secret", "base64");
  await dialog.click("Rotate");
  await dialog.rejected("Custom secret");
  await dialog.fill("Encoding of the secret", "hex");
  await dialog.click("Rotate");
  await ui.see("Saved. Used from the next attempt.", /Expires in 6d/);
  const { json: secrets } = await shared.call("GET", `/api/v1${path}/secrets`);
  const schemes = secrets.data.map(({ scheme }: { readonly scheme: string | null }) => scheme);
  expect(schemes.toSorted()).toEqual(["github", "github", null]);
  const confirm = await ui.openDialog("Revoke");
  await confirm.fill(/^Type .* to confirm/, new URL(receiver.url).host);
  await confirm.click("Revoke");
  await ui.see("Secret revoked.");
  await ui.click("Settings");
  await ui.see("A token is set and is not shown. Empty keeps it.");
  await ui.fill("Token", "");
  await ui.see("The current token will be removed.");
  await ui.click("Save");
  await ui.see("Saved. Applies from the next attempt.");
  expect(ui.has(/^Undo/)).toBe(false);
  expect((await shared.call("GET", `/api/v1${path}`)).json.authorization).toBeNull();
});

test("the private key of a key pair is not shown; receivers are referred to the public keys", async () => {
  const { ui } = await openDashboard(shared, `/tenants/${await shared.newTenant()}`);
  const dialog = await ui.openDialog("New endpoint");
  await dialog.fill("URL", "https://hooks.example/in");
  await dialog.check("standard-webhooks-v1a");
  await dialog.click("Create");
  await dialog.see("the receiver needs only the public keys", /\.well-known\/webhook-keys\/ep_/);
  expect(dialog.text()).not.toContain("whsk_");
});

test("a receiver that declined webhooks is asked for consent again", async () => {
  const { receiver, path } = await withEndpoint();
  receiver.answer("/in", { status: 200, headers: { "WebHook-Allowed-Origin": "other.example" } });
  await shared.call("PATCH", `/api/v1${path}`, {
    handshake: { origin: "hooks.example.com", rate: 600 },
  });
  const { ui } = await openDashboard(shared, path);
  await ui.see("The receiver declined webhooks.");
  await ui.see("Requested for origin hooks.example.com at 600 per minute.");
  const granting = { "WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "120" };
  receiver.answer("/in", { status: 200, headers: granting });
  await ui.click("Request again");
  await ui.see("The receiver consented to at most 120 webhooks per minute.");
});

test("a batch delivery lists its events", async () => {
  const { receiver, tenant } = await withEndpoint({
    format: "cloudevents-batch",
    batch: { max_events: 2, max_delay_ms: 3_600_000 },
  });
  const publish = async (data: number) =>
    (await shared.call("POST", "/api/v1/events", { tenant, type: "order.paid", data })).json.id;
  const first = await publish(1);
  const { ui } = await openDashboard(shared, `/events/${first}`);
  await ui.see("Waiting to be sent in a batch.");
  const second = await publish(2);
  await receiver.received(1);
  await ui.see("in a batch:");
  await ui.click(/^dlv_/);
  await ui.see("Events in this batch: 2");
  const members = [...document.querySelectorAll("section ol a")].map(({ textContent }) => textContent);
  await waitFor(() => expect(members).toEqual([first, second]));
});

test("a host name that does not resolve is shown after creating the endpoint and after changing its URL", async () => {
  const server = await startServer({
    resolve: async () => {
      throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    },
  });
  const tenant = await server.newTenant();
  const { ui } = await openDashboard(server, `/tenants/${tenant}`);
  const dialog = await ui.openDialog("New endpoint");
  await dialog.fill("URL", "https://missing.example.com/in");
  await dialog.click("Create");
  const text = "The host name of this URL cannot be resolved.";
  await ui.see("Endpoint created", text);
  const { json } = await server.call("GET", `/api/v1/tenants/${tenant}/endpoints`);
  const opened = await openDashboard(server, `/tenants/${tenant}/endpoints/${json.data[0].id}?tab=settings`);
  await opened.ui.gone(text);
  await opened.ui.fill("URL", "https://missing.example.com/other");
  await opened.ui.click("Save");
  await opened.ui.see("Saved. Applies from the next attempt.", text);
});
