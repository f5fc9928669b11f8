// Lists in the dashboard: links of rows, outcomes, chosen columns and the filter bar.
import { fireEvent, waitFor } from "@testing-library/react";
import { expect, onTestFinished, test, vi } from "vitest";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { sharedServer } from "../support/servers/start-server.ts";
import { openDashboard } from "./render.tsx";
import { press } from "./ui.ts";

const server = sharedServer({ posthorn: { retryPolicy: "10ms,1h" } });

/** A tenant with a failing and a working endpoint, and an event for each, for both and for none. */
async function withEvents() {
  const receiver = await startReceiver();
  receiver.answer("/broken", { status: 500, body: Buffer.from("out of stock") });
  const tenant = await server.newTenant();
  const endpoint = (path: string, events: readonly string[], name?: string) =>
    server.newEndpoint({ url: `${receiver.url}${path}`, events, ...(name && { name }) }, tenant);
  const { path: works } = await endpoint("/works", ["order.paid"]);
  const { path: broken } = await endpoint("/broken", ["order.*"], "Warehouse");
  const publish = async (type: string) =>
    (await server.call("POST", "/api/v1/events", { tenant, type, data: 1 })).json.id as string;
  const ids = {
    paid: await publish("order.paid"),
    lost: await publish("order.lost"),
    none: await publish("invoice.sent"),
  };
  const attempts = async () =>
    (await server.call("GET", `/api/v1/deliveries?tenant=${tenant}`)).json.data.map(
      (delivery: { attempt_count: number }) => delivery.attempt_count,
    );
  await waitFor(async () => expect((await attempts()).toSorted()).toEqual([1, 2, 2]));
  return { tenant, receiver, ids, works, broken, host: new URL(receiver.url).host };
}

test("events are listed with their outcome", async () => {
  const { tenant } = await withEvents();
  const { ui } = await openDashboard(server, `/events?tenant=${tenant}`);
  await ui.rows(3);
  await (await ui.row("invoice.sent")).see("no subscriber");
  await (await ui.row("order.paid")).see("retrying 1 of 2");
  await (await ui.row("order.lost")).see("retrying");
});

test("a row has a real link: a click follows it, a middle click opens it beside, and keys focus it", async () => {
  const { tenant, ids } = await withEvents();
  const { ui, path } = await openDashboard(server, `/events?tenant=${tenant}`);
  await ui.rows(3);
  const link = await ui.control("order.lost");
  expect(new URL(link.getAttribute("href") ?? "", "http://dashboard.test").pathname).toBe(
    `/events/${ids.lost}`,
  );
  const open = vi.fn();
  const before = globalThis.window.open;
  globalThis.window.open = open;
  onTestFinished(() => {
    globalThis.window.open = before;
  });
  const row = link.closest("tr") as Element;
  fireEvent(row, new MouseEvent("auxclick", { bubbles: true, button: 1 }));
  fireEvent.click(row, { ctrlKey: true });
  expect(open.mock.calls.map(([href]) => new URL(href).pathname)).toEqual([
    `/events/${ids.lost}`,
    `/events/${ids.lost}`,
  ]);
  expect(path()).toBe(`/events?tenant=${tenant}`);
  press("j", "j");
  await waitFor(() => expect(document.activeElement).toBe(link));
  press("o");
  await waitFor(() => expect(path()).toBe(`/events/${ids.lost}`));
});

test("deliveries are listed with the name of their endpoint and the last error", async () => {
  const { tenant, host } = await withEvents();
  const { ui } = await openDashboard(server, `/deliveries?tenant=${tenant}`);
  await ui.rows(3);
  await (await ui.row("order.lost")).see(`Warehouse ${`http://${host}/broken`}`, "HTTP 500");
  await (await ui.row("delivered")).see(`http://${host}/works`);
});

test("an endpoint's attempts are in the order of time, with event type and error", async () => {
  const { broken } = await withEvents();
  const { ui } = await openDashboard(server, broken.replace("/api/v1", ""));
  await ui.see("Attempts", "out of stock");
  await waitFor(() => expect(document.querySelectorAll("tr[data-row]").length).toBeGreaterThan(2));
  const rows = [...document.querySelectorAll("tr[data-row]")];
  const times = rows.map((row) => row.querySelector("time")?.dateTime ?? "");
  expect(times).toEqual(times.toSorted().toReversed());
  const types = new Set(rows.map((row) => row.querySelector("code")?.textContent));
  expect(types).toEqual(new Set(["order.paid", "order.lost"]));
});

test("chosen columns are kept for their list in this browser", async () => {
  const { tenant, ids } = await withEvents();
  const page = `/events?tenant=${tenant}`;
  const { ui } = await openDashboard(server, page);
  await ui.rows(3);
  expect(ui.text()).not.toContain(ids.none);
  await ui.click("Columns");
  await ui.check("ID");
  await ui.check("Outcome");
  await ui.see(ids.none);
  await ui.gone("no subscriber");
  const again = await openDashboard(server, page);
  await again.ui.see(ids.none);
  await again.ui.gone("no subscriber");
  const other = await openDashboard(server, `/deliveries?tenant=${tenant}`);
  await other.ui.see("Last error");
});
