// Deliveries and events in the dashboard: lists, filters, explanations, retry and cancel.
import { waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { createPool } from "../support/database/postgres.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";
import { openDashboard } from "./render.tsx";
import { press } from "./ui.ts";
import { createEndpoint, publish, startWithEndpoint } from "./world.ts";

/** Waits until the first delivery is in this state; returns its id. */
async function deliveryIn(server: TestServer, state: string): Promise<string> {
  return await waitFor(async () => {
    const { json } = await server.call("GET", `/api/v1/deliveries?state=${state}`);
    expect(json.data[0]?.id).toBeDefined();
    return json.data[0].id as string;
  });
}

/** Publishes an event from SQL that the catalogue rejects. */
async function publishRejected(server: TestServer, code = "invalid_event"): Promise<void> {
  const schema = { properties: { total: { type: "integer" } } };
  await server.call("PUT", "/api/v1/event-types/order.paid", { schema });
  const pool = createPool(server.connectionString);
  await pool.query(
    `select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '{"total":"1"}'::text, subject => 'order-1')`,
  );
  await waitFor(async () =>
    expect((await server.call("GET", "/api/v1/events?state=rejected")).json.data).toHaveLength(1),
  );
  await pool.query("update posthorn.rejected_events set code = $1", [code]);
  await pool.end();
}

test("an event shows its deliveries, the endpoints it did not match, and the changes since the previous event", async () => {
  const { receiver, server } = await startWithEndpoint();
  await createEndpoint(server, receiver, { events: ["invoice.*"] });
  await publish(server, 1);
  await publish(server, 2);
  const { ui } = await openDashboard(server, "/events");
  await ui.open("order-1");
  await ui.see("Not subscribed to order.paid.", "delivered");
  await ui.click("Compare with previous event");
  await ui.see("/total");
});

test("a rejected event is found by its state, shows the reason, and can be discarded and released", async () => {
  const { server } = await startWithEndpoint();
  await publishRejected(server);
  await publish(server);
  const { ui, path, changes } = await openDashboard(server, "/events");
  await ui.fill("State", "rejected");
  await ui.row("rejected");
  expect(path()).toBe("/events?event_state=rejected");
  await ui.open("order-1");
  await ui.see(
    "Rejected by the catalogue",
    /"\/data\/total" must be integer/,
    "Release the event to deliver it.",
    "The event was not delivered.",
  );
  expect(ui.text()).not.toContain("The event matched no endpoint.");
  await ui.click("Discard");
  await ui.see("Discarded");
  await ui.click("Release");
  await ui.see("delivered");
  const id = path().slice("/events/".length);
  expect(changes).toEqual(["discard", "release"].map((change) => `POST /api/v1/events/${id}/${change}`));
});

test("an event whose data was too large can only be discarded", async () => {
  const { server } = await startWithEndpoint();
  await publishRejected(server, "payload_too_large");
  const { ui, changes } = await openDashboard(server, "/events?event_state=rejected");
  await ui.open("order-1");
  await ui.see("The data was too large to be stored, so this event can only be discarded.");
  expect((await ui.control("Release")).getAttribute("aria-disabled")).toBe("true");
  await ui.click("Discard");
  await ui.see("Discarded");
  expect(changes.map((change) => change.split("/").at(-1))).toEqual(["discard"]);
});

test("a failed delivery shows its next attempt, and can be cancelled once", async () => {
  const { server } = await startWithEndpoint(500, { retry_policy: "20m,1h" });
  await publish(server);
  const id = await deliveryIn(server, "failed");
  const { ui, path, changes } = await openDashboard(server, "/retry-queue");
  await ui.row("will retry");
  press("j", "o");
  await waitFor(() => expect(path()).toBe(`/deliveries/${id}`));
  await ui.see(/Next attempt in \d+m/, "1 of 3 attempts used", "The receiver returned HTTP 500");
  await ui.click("Cancel", { times: 2 });
  await ui.see("The delivery was cancelled");
  expect(changes).toEqual([`POST /api/v1/deliveries/${id}/cancel`]);
});

test("a filter is part of the URL, and a list without results can be reset", async () => {
  const { server } = await startWithEndpoint();
  await publish(server);
  const { ui, path } = await openDashboard(server, "/deliveries");
  await ui.row("order.paid");
  await ui.fill("State", "dead");
  await ui.see("No results for these filters");
  expect(path()).toBe("/deliveries?state=dead");
  await ui.click("Clear filters");
  await ui.row("order.paid");
  expect(path()).toBe("/deliveries");
});

test("a filter with an invalid time shows the error", async () => {
  const { ui } = await openDashboard(
    await startServer({ started: false }),
    "/deliveries?created_after=yesterday",
  );
  await ui.see("Failed to load", "created_after");
});

test("while the circuit is open, queue and delivery show the next probe and no time in the past", async () => {
  // no probe is sent while the pages open
  const posthorn = { circuitFailures: 1, circuitPauseMs: 1_800_000, retryPolicy: "1ms,1h" };
  const server = await startServer({ posthorn });
  const receiver = await startReceiver(500);
  await createEndpoint(server, receiver);
  await publish(server);
  const id = await deliveryIn(server, "failed");
  const queue = await openDashboard(server, "/retry-queue");
  await queue.ui.see(/circuit open, probe in \d+ min/);
  expect(queue.ui.text()).not.toMatch(/next attempt[^.]{0,12} ago/i);
  const page = await openDashboard(server, `/deliveries/${id}`);
  await page.ui.see(
    /Circuit open: deliveries are paused. Next probe in \d+m/,
    "The endpoint failed too often.",
  );
});

test("a parked delivery leads to the one that has to end first", async () => {
  const { server } = await startWithEndpoint(500, { retry_policy: "20m", ordering: "fifo" });
  await publish(server);
  const first = await deliveryIn(server, "failed");
  await publish(server);
  const parked = await deliveryIn(server, "pending");
  const { ui, path } = await openDashboard(server, `/deliveries/${parked}`);
  await ui.see("Waiting for an earlier event of its subject.");
  await ui.click("Show the earlier delivery");
  await waitFor(() => expect(path()).toBe(`/deliveries/${first}`));
  await ui.see(/Next attempt in \d+m/);
});

test("a held delivery shows why, in both languages", async () => {
  const { server, endpoint } = await startWithEndpoint(500, { retry_policy: "20m" });
  await publish(server);
  const id = await deliveryIn(server, "failed");
  await server.call("PATCH", endpoint, { handshake: { origin: "hooks.example.com" } });
  const handshake = await openDashboard(server, `/deliveries/${id}`);
  await handshake.ui.see("On hold: the receiver has not consented to webhooks.");
  await server.call("PATCH", endpoint, { handshake: null });
  await server.call("POST", `${endpoint}/disable`);
  await handshake.ui.see("On hold: the endpoint is disabled.");
  await server.call("PUT", "/api/v1/tenants/acme", { is_active: false });
  await handshake.ui.see("On hold: the tenant is inactive.");
  await handshake.ui.fill("Language", "de");
  await handshake.ui.see("Angehalten: Der Mandant ist inaktiv.");
});

test("a replay counts the deliveries first, and pressing start twice starts one", async () => {
  const { receiver, server } = await startWithEndpoint();
  await publish(server);
  await deliveryIn(server, "success");
  const { ui, changes } = await openDashboard(server, "/replays");
  const dialog = await ui.openDialog("New replay");
  await dialog.fill("Deliveries", "success");
  await dialog.click("Count");
  await dialog.see("1 delivery will be sent.");
  await dialog.click("Start replay", { times: 2 });
  await ui.see("finished", "1 delivered");
  expect(changes.filter((change) => change.endsWith("/replays"))).toHaveLength(2);
  await receiver.received(2);
});

test("what a list's filters match is saved as a file", async () => {
  const { server } = await startWithEndpoint();
  await publish(server);
  const id = await deliveryIn(server, "success");
  const saved = vi.spyOn(URL, "createObjectURL");
  vi.spyOn(HTMLElement.prototype, "click").mockImplementation(() => {});
  const { ui } = await openDashboard(server, "/deliveries?state=success");
  await ui.row("order.paid");
  const dialog = await ui.openDialog("Export …");
  await dialog.fill("Rows", "attempts");
  await dialog.click("Export");
  await waitFor(() => expect(saved).toHaveBeenCalledOnce());
  const text = await new Response(saved.mock.calls[0]?.[0] as Blob).text();
  vi.restoreAllMocks();
  expect(text.split("\r\n")).toEqual([
    expect.stringMatching(/^"delivery_id","event_id",/),
    expect.stringContaining(`"${id}"`),
    "",
  ]);
});

test("a replay is scheduled, listed with its start, and cancelled", async () => {
  const { server } = await startWithEndpoint();
  const { ui } = await openDashboard(server, "/replays");
  const dialog = await ui.openDialog("New replay");
  await dialog.fill("Start at", "2020-01-01T10:00");
  await dialog.click("Count");
  await dialog.see("start_at must be in the future");
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  await dialog.fill("Start at", tomorrow);
  await dialog.click("Count");
  await dialog.see("0 deliveries will be sent.");
  await dialog.click("Schedule replay");
  await ui.see("scheduled", "starts in", "Scheduled for");
  await ui.click("Cancel");
  await ui.see("cancelled");
  const { json } = await server.call("GET", "/api/v1/replays");
  expect(json.data).toMatchObject([{ state: "cancelled", started_at: null }]);
});

test("a large event is truncated, and shown in full without syntax colours", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const data = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, index]));
  const { json } = await server.call("POST", "/api/v1/events", { tenant: "acme", type: "large", data });
  const { ui } = await openDashboard(server, `/events/${json.id}`);
  await ui.see('"k100"');
  expect(ui.text()).not.toContain('"k14999"');
  await ui.click(/Show all 2\d\d\.\d KB/);
  await ui.see('"k14999": 14999');
  expect(document.querySelectorAll("pre span")).toHaveLength(0);
});

test("a page that throws leaves the navigation usable", async () => {
  const respond = ({ path }: { readonly path: string }) =>
    path.startsWith("/api/v1/tenants?") ? Response.json(null) : undefined;
  const { ui } = await openDashboard(await startServer({ started: false }), "/tenants", { respond });
  await ui.see("This page failed to render");
  await ui.click("API keys");
  await ui.see("No keys other than the admin key");
});

test("new rows are announced and shown on request, and a changed row is updated in place", async () => {
  const { receiver, server } = await startWithEndpoint(500, { retry_policy: "20m" });
  await publish(server);
  const id = await deliveryIn(server, "failed");
  const { ui, live } = await openDashboard(server, "/deliveries");
  await ui.row("will retry");
  await live;
  await publish(server, 2);
  await ui.control("1 new· show");
  receiver.answer("/", 200);
  await server.call("POST", `/api/v1/deliveries/${id}/retry`);
  await ui.row("delivered");
  await ui.rows(1);
  await ui.click("1 new· show");
  await ui.rows(2);
});

test.each([
  ["/events", 500],
  ["/retry-queue", 500],
  ["/dead-letters", 400],
])("%s announces only new rows that match its filters", async (list, status) => {
  const { receiver, server } = await startWithEndpoint(status);
  await createEndpoint(server, receiver, {}, "rivals");
  await publish(server);
  await deliveryIn(server, status === 400 ? "dead" : "failed");
  const { ui, live } = await openDashboard(server, `${list}?tenant=acme`);
  await ui.rows(1);
  await live;
  await publish(server, 1, { tenant: "rivals" });
  await publish(server, 2);
  await ui.click("1 new· show");
  await ui.rows(2);
});

test("a new replay is announced, and a running one is cancelled", async () => {
  const { receiver, server } = await startWithEndpoint();
  const events = Array.from({ length: 100 }, (_, data) => ({ tenant: "acme", type: "order.paid", data }));
  await server.call("POST", "/api/v1/events", events);
  await receiver.received(100);
  const replay = (states: string) =>
    server.call("POST", "/api/v1/replays", { tenant: "acme", states: [states], rate: 1 });
  await replay("dead");
  const { ui } = await openDashboard(server, "/replays");
  await ui.rows(1);
  await replay("success");
  await ui.click("1 new· show");
  await ui.open("running");
  await ui.click("Cancel");
  await ui.see("cancelled");
  expect(receiver.requests.length).toBeLessThan(200);
});

test("the tail shows deliveries and events without an endpoint", async () => {
  const { server } = await startWithEndpoint(200, { events: ["order.*"] });
  const { ui, live } = await openDashboard(server, "/tail");
  await live;
  await publish(server);
  await (await ui.row("order.paid")).see("delivered");
  await publish(server, 1, { type: "other.type" });
  await (await ui.row("other.type")).see("no endpoint");
});

test.each([
  ["open circuit", /Circuit (open|half-open):/],
  ["filter", "The filter condition at /data/total/$gte did not match."],
])("an operator finds out by the subject why an event was not delivered: %s", async (cause, explanation) => {
  const receiver = await startReceiver(cause === "open circuit" ? 500 : 200);
  const server = await startServer();
  const filter = cause === "filter" ? { filter: { data: { total: { $gte: 100 } } } } : {};
  const endpoint = await createEndpoint(server, receiver, filter);
  if (cause === "open circuit") {
    for (let order = 1; order <= 10; order += 1) await publish(server, order);
    await waitFor(async () => expect((await server.call("GET", endpoint)).json.circuit).toBe("open"));
    // probes send these first
    for (let order = 11; order <= 14; order += 1) await publish(server, order);
  }
  await publish(server);
  const { ui } = await openDashboard(server, "/system");
  const dialog = await ui.openDialog(/^Search …/);
  await dialog.fill("Page, ID, subject or tenant", "order-1");
  await dialog.click("Events with subject order-1");
  await ui.open("order-1");
  await ui.see(explanation);
});

test("an operator finds a rejected event by its id, sees the cause and retries it", async () => {
  const { receiver, server } = await startWithEndpoint({ status: 404, body: "no such route" });
  const { json } = await publish(server);
  const { ui } = await openDashboard(server, "/system");
  const dialog = await ui.openDialog(/^Search …/);
  await dialog.fill("Page, ID, subject or tenant", json.id);
  await dialog.click(new RegExp(json.id));
  await ui.see("The receiver rejected the event.", "fix the receiver, then retry");
  await ui.click(/^dlv_/);
  await ui.see("The receiver returned HTTP 404", "no such route", "X-Webhook-Signature");
  receiver.answer("/", 200);
  await ui.click("Retry now");
  await ui.see("manual retry", "delivered");
});

test("an empty search explains where a missing event may be", async () => {
  const { ui } = await openDashboard(await startServer({ started: false }), "/events?subject=4711");
  await ui.see("No results for these filters", "return an error such as 422 invalid_event and store nothing");
});
