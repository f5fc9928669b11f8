// Bulk actions, undo and saved views.
import { waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { createPool } from "../support/database/postgres.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";
import { openDashboard, openPortal } from "./render.tsx";
import { press } from "./ui.ts";
import { createEndpoint, startWithEndpoint } from "./world.ts";

async function publish(server: TestServer, tenant: string, types: readonly string[]): Promise<void> {
  const events = types.map((type) => ({ tenant, type, data: 1 }));
  await server.call("POST", "/api/v1/events", events);
}

async function openDeadLetters(server: TestServer, count: number) {
  const dead = async () => (await server.call("GET", "/api/v1/deliveries?state=dead")).json.data.length;
  await waitFor(async () => expect(await dead()).toBe(count));
  const opened = await openDashboard(server, "/dead-letters");
  await opened.ui.rows(count);
  return opened;
}

test("a bulk retry shows what it skips and why, and keeps failed rows selected", async () => {
  const { receiver, server } = await startWithEndpoint(400);
  const disabled = await createEndpoint(server, receiver, {}, "rivals");
  const other = await createEndpoint(server, receiver, {}, "third");
  await publish(server, "acme", ["order.paid", "order.paid", "order.sent"]);
  await publish(server, "rivals", ["order.paid"]);
  await publish(server, "third", ["order.paid"]);
  const { ui } = await openDeadLetters(server, 5);
  await server.call("POST", `${disabled}/disable`);
  receiver.answer("/", 200);
  await ui.check("Select all loaded rows");
  press("r");
  const dialog = await ui.dialog();
  await dialog.see("4 deliveries will be retried now.", "acme × 3", "order.paid × 3", "1 skipped:");
  await dialog.see("1 × the endpoint is disabled; enable it first");
  expect(receiver.requests).toHaveLength(5);
  // disabled after the preview
  await server.call("POST", `${other}/disable`);
  await dialog.click("Retry");
  await dialog.see("3 of 4 done.", "1 failed, still selected:", /1 × .*disabled/);
  await dialog.click("Close");
  await ui.see("2 selected");
  await receiver.received(8);
});

test("dead letters are selected by keyboard and deleted, and the rest is offered for a replay", async () => {
  const { server } = await startWithEndpoint(400);
  await publish(server, "acme", ["order.paid", "order.paid", "order.sent"]);
  const { ui } = await openDeadLetters(server, 3);
  for (const index of [0, 1]) {
    press("j");
    await waitFor(() =>
      expect(document.querySelectorAll("tr[data-row]")[index]?.getAttribute("aria-current")).toBe("true"),
    );
    press("x");
  }
  const dialog = await ui.openDialog("Delete 2 …");
  await dialog.see("2 dead letters will be deleted permanently");
  await dialog.click("Delete");
  await dialog.see("2 of 2 done.");
  await dialog.click("Close");
  await ui.rows(1);
  const replay = await ui.openDialog("Replay all matching …");
  await replay.click("Count");
  await replay.see("1 delivery will be sent.");
});

test("endpoints are disabled together, and disabled ones are skipped", async () => {
  const receiver = await startReceiver();
  const server = await startServer({ started: false });
  for (const tenant of ["acme", "rivals"]) await createEndpoint(server, receiver, {}, tenant);
  await server.call("POST", `${await createEndpoint(server, receiver)}/disable`);
  const { ui } = await openDashboard(server, "/endpoints");
  await ui.rows(3);
  await ui.check("Select all loaded rows");
  const dialog = await ui.openDialog("Disable …");
  await dialog.see("2 endpoints will be disabled.", "1 × already disabled");
  await dialog.click("Disable");
  await dialog.see("2 of 2 done.");
  expect((await server.call("GET", "/api/v1/endpoints?state=disabled")).json.data).toHaveLength(3);
});

test("a change is undone by a key, unless it was changed again in the meantime", async () => {
  const receiver = await startReceiver();
  const server = await startServer({ started: false });
  const endpoint = await createEndpoint(server, receiver);
  const timeout = async () => (await server.call("GET", endpoint)).json.timeout_ms;
  await server.call("PATCH", endpoint, { timeout_ms: 1_000 });
  const { ui } = await openDashboard(server, `${endpoint.replace("/api/v1", "")}?tab=settings`);
  const save = async (value: string) => {
    await ui.fill("Timeout in ms", value);
    await ui.click("Save");
    await waitFor(async () => expect(await timeout()).toBe(Number(value)));
    await ui.control(/^Undo/);
  };
  await save("2000");
  press("u");
  await ui.see("Undone.");
  expect(await timeout()).toBe(1_000);
  await waitFor(async () => expect((await ui.field("Timeout in ms")).value).toBe("1000"));
  await save("3000");
  await server.call("PATCH", endpoint, { timeout_ms: 4_000 });
  await ui.click(/^Undo/);
  await ui.see("Not undone: it was changed again in the meantime.");
  expect(await timeout()).toBe(4_000);
});

test("a view is saved, selected, renamed, deleted and restored", async () => {
  const { ui, path } = await openDashboard(await startServer({ started: false }), "/deliveries?state=dead");
  await ui.click("Save view");
  await ui.fill("View name", "given up");
  await ui.click("Save");
  await ui.click("Clear filters");
  await waitFor(() => expect(path()).toBe("/deliveries"));
  await ui.click("given up");
  await waitFor(() => expect(path()).toBe("/deliveries?state=dead"));
  await ui.click("Rename view given up");
  await ui.fill("View name", "failed for good");
  await ui.click("Save");
  expect((await ui.control("failed for good")).getAttribute("aria-pressed")).toBe("true");
  await ui.click("Delete view failed for good");
  await waitFor(() => expect(ui.has("failed for good")).toBe(false));
  await ui.click(/^Undo/);
  await ui.control("failed for good");
});

test("all dead letters that match the filters are counted and deleted", async () => {
  const { server } = await startWithEndpoint(400);
  await publish(server, "acme", ["order.paid", "order.paid", "order.sent"]);
  const { ui } = await openDeadLetters(server, 3);
  await ui.fill("Event type", "order.paid");
  await ui.rows(2);
  const dialog = await ui.openDialog("Delete all matching …");
  await dialog.see("2 dead letters will be deleted permanently", "become dead from now on are kept");
  await dialog.click("Delete");
  await dialog.see("2 deleted.");
  const { json } = await server.call("GET", "/api/v1/deliveries?state=dead");
  expect(json.data.map(({ event_type }: { event_type: string }) => event_type)).toEqual(["order.sent"]);
});

test("all rejected events that match the filters are counted, discarded and released", async () => {
  const { server, receiver } = await startWithEndpoint();
  const schema = { properties: { amount: { type: "integer" } } };
  for (const type of ["order.paid", "order.sent"])
    await server.call("PUT", `/api/v1/event-types/${type}`, { schema });
  const pool = createPool(server.connectionString);
  for (const type of ["order.paid", "order.sent", "order.sent"])
    await pool.query(
      `select posthorn.publish(tenant => 'acme', type => $1, data => '{"amount":"1"}'::text)`,
      [type],
    );
  await pool.end();
  const rejected = async () =>
    (await server.call("GET", "/api/v1/events?state=rejected")).json.data.map(
      ({ type }: { type: string }) => type,
    );
  await waitFor(async () => expect(await rejected()).toHaveLength(3));
  const { ui } = await openDashboard(server, "/events");
  await ui.rows(3);
  expect(ui.has("Discard all matching …")).toBe(false);
  await ui.fill("State", "rejected");
  await ui.fill("Event type", "order.sent");
  await ui.rows(2);
  const discarding = await ui.openDialog("Discard all matching …");
  await discarding.see("2 rejected events will not be delivered", "rejected from now on are not affected");
  await discarding.click("Discard");
  await discarding.see("2 discarded.");
  await discarding.click("Close");
  expect(await rejected()).toEqual(["order.paid"]);
  await ui.fill("Event type", "");
  const releasing = await ui.openDialog("Release all matching …");
  await releasing.see("1 rejected event will be delivered without another check.");
  await releasing.click("Release");
  await releasing.see("1 released.");
  await receiver.received(1);
  expect(await rejected()).toEqual([]);
});

test("in the portal, dead letters are deleted only with the permission to retry", async () => {
  const { server } = await startWithEndpoint(400);
  await publish(server, "acme", ["order.paid"]);
  const dead = async () => (await server.call("GET", "/api/v1/deliveries?state=dead")).json.data.length;
  await waitFor(async () => expect(await dead()).toBe(1));
  const openLogs = async (scopes: readonly string[]) => {
    const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", { scopes });
    const { ui } = await openPortal(server, json.url);
    await ui.click("Logs");
    await ui.fill("State", "dead");
    await ui.row("order.paid");
    return ui;
  };
  const reader = await openLogs(["deliveries:read"]);
  expect(reader.has("Delete all matching …")).toBe(false);
  const owner = await openLogs(["deliveries:read", "deliveries:retry"]);
  const dialog = await owner.openDialog("Delete all matching …");
  await dialog.see("1 dead letter will be deleted permanently");
  await dialog.click("Delete");
  await dialog.see("1 deleted.");
  expect(await dead()).toBe(0);
});
