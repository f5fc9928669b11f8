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
  for (const type of ["order.paid", "order.lost", "invoice.sent"])
    await server.call("PUT", `/api/v1/event-types/${type}`, {});
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

test("filters suggest tenants, endpoints by name and event types, and a choice is applied at once", async () => {
  const { tenant, broken } = await withEvents();
  const { ui, path } = await openDashboard(server, "/deliveries");
  const type = async (label: string, text: string) => {
    const field = await ui.field(label);
    fireEvent.focus(field);
    fireEvent.change(field, { target: { value: text } });
    return field;
  };
  await type("Tenant", tenant.slice(4).toUpperCase());
  await ui.click(tenant);
  await waitFor(() => expect(path()).toBe(`/deliveries?tenant=${tenant}`));
  await type("Endpoint", "wareh");
  await ui.click(/^Warehouse/);
  const id = broken.split("/").at(-1);
  await waitFor(() => expect(path()).toBe(`/deliveries?tenant=${tenant}&endpoint=${id}`));
  await waitFor(async () => expect((await ui.field("Endpoint")).value).toBe("Warehouse"));
  await ui.rows(2);
  const field = await type("Event type", "lost");
  await waitFor(() => expect(field.getAttribute("aria-expanded")).toBe("true"));
  fireEvent.keyDown(field, { key: "ArrowDown" });
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(path()).toContain("type=order.lost"));
  await ui.rows(1);
  await type("Endpoint", "");
  await waitFor(() => expect(path()).toBe(`/deliveries?tenant=${tenant}&type=order.lost`));
  await type("Endpoint", "nobody knows");
  fireEvent.blur(await ui.field("Endpoint"));
  await waitFor(async () => expect((await ui.field("Endpoint")).value).toBe(""));
  expect(path()).toBe(`/deliveries?tenant=${tenant}&type=order.lost`);
});

test("a time preset is part of the URL and limits the list, and a custom range has a clock", async () => {
  const { tenant } = await withEvents();
  const requested: URL[] = [];
  const respond = ({ path }: { readonly path: string }) => {
    const url = new URL(path, "http://dashboard.test");
    if (url.pathname === "/api/v1/events" && url.searchParams.has("created_after")) requested.push(url);
    return undefined;
  };
  const { ui, path } = await openDashboard(server, `/events?tenant=${tenant}`, { respond });
  await ui.fill("Time", "24h");
  expect(path()).toBe(`/events?tenant=${tenant}&since=24h`);
  await waitFor(() => expect(requested).not.toEqual([]));
  const after = Date.parse(requested[0]?.searchParams.get("created_after") ?? "");
  expect(Math.round((Date.now() - after) / 3_600_000)).toBe(24);
  await ui.rows(3);
  await ui.fill("Time", "custom");
  expect(path()).toBe(`/events?tenant=${tenant}`);
  await ui.fill("Created before", "2020-01-31T23:45");
  await ui.see("No results for these filters");
  const before = new Date("2020-01-31T23:45").toISOString();
  expect(new URL(path(), "http://dashboard.test").searchParams.get("created_before")).toBe(before);
  expect((await ui.field("Created before")).value).toBe("2020-01-31T23:45");
  expect((await ui.field("Created before")).type).toBe("datetime-local");
});

test("filters are behind one button on a phone, which counts those that are set", async () => {
  const { tenant } = await withEvents();
  const { ui } = await openDashboard(server, `/events?tenant=${tenant}&since=7d`);
  const button = await ui.control("Filters (2)");
  const fields = document.getElementById(button.getAttribute("aria-controls") ?? "");
  expect([button.getAttribute("aria-expanded"), fields?.classList.contains("max-sm:hidden")]).toEqual([
    "false",
    true,
  ]);
  await ui.click("Filters (2)");
  expect([button.getAttribute("aria-expanded"), fields?.classList.contains("max-sm:hidden")]).toEqual([
    "true",
    false,
  ]);
});
