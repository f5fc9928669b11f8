// What is done with many rows at once, and the way back, in a real browser: it is said before it happens, counted while it
// does, and told honestly afterwards.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard, unfold } from "../support/dashboard.ts";
import { startServer, type TestServer } from "../support/start-server.ts";
import { type StatusReceiver, startStatusReceiver } from "../support/status-receiver.ts";

async function endpointOf(server: TestServer, tenant: string, receiver: StatusReceiver): Promise<string> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
  const { json } = await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, {
    url: receiver.url,
    events: ["*"],
  });
  return json.id;
}

async function publish(server: TestServer, tenant: string, types: readonly string[]): Promise<void> {
  await server.call(
    "POST",
    "/api/v1/events",
    types.map((type) => ({ tenant, type, data: 1 })),
  );
}

async function deadLetters(server: TestServer, count: number): Promise<void> {
  const dead = async () => (await server.call("GET", "/api/v1/deliveries?state=dead")).json.data.length;
  await expect.poll(dead, { timeout: 20_000 }).toBe(count);
}

async function openDeadLetters(server: TestServer, count: number): Promise<Page> {
  await deadLetters(server, count);
  const page = await openDashboard(server, "/dead-letters");
  await expect.poll(() => page.locator("tr[data-row]").count()).toBe(count);
  return page;
}

const chooseAll = (page: Page) => page.getByLabel("Select all loaded rows").check();

test("many are retried: it says of whom and which not, and afterwards what became of them", async () => {
  const receiver = await startStatusReceiver(400);
  const server = await startServer();
  await endpointOf(server, "acme", receiver);
  const off = await endpointOf(server, "rivals", receiver);
  await publish(server, "acme", ["order.paid", "order.paid", "order.sent"]);
  await publish(server, "rivals", ["order.paid"]);
  const page = await openDeadLetters(server, 4);
  await server.call("POST", `/api/v1/tenants/rivals/endpoints/${off}/disable`);
  receiver.answer.status = 200;
  // the key is for what is chosen, also where a box was ticked by mouse and has the focus
  await chooseAll(page);
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("3 deliveries will be retried now.").waitFor();
  await dialog.getByText("acme × 3").waitFor();
  await dialog.getByText("order.paid × 2").waitFor();
  await dialog.getByText("1 skipped:").waitFor();
  await dialog.getByText("1 × the endpoint is disabled; enable it first").waitFor();
  await expectFitToShow(page, "bulk-retry");
  expect(receiver.requests).toHaveLength(4);
  await dialog.getByRole("button", { name: "Retry" }).click();
  await dialog.getByText("3 of 3 done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => receiver.requests.length).toBe(7);
  // what was left alone is still chosen
  await page.getByText("1 selected").waitFor();
});

test("what is refused in the middle is told, and stays chosen; what was done is not chosen any more", async () => {
  const receiver = await startStatusReceiver(400);
  const server = await startServer();
  await endpointOf(server, "acme", receiver);
  const other = await endpointOf(server, "rivals", receiver);
  await publish(server, "acme", ["order.paid", "order.sent"]);
  await publish(server, "rivals", ["order.paid"]);
  const page = await openDeadLetters(server, 3);
  receiver.answer.status = 200;
  await chooseAll(page);
  await page.getByRole("button", { name: "Retry 3 …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("3 deliveries will be retried now").waitFor();
  // between the look and the deed
  await server.call("POST", `/api/v1/tenants/rivals/endpoints/${other}/disable`);
  await dialog.getByRole("button", { name: "Retry" }).click();
  await dialog.getByText("2 of 3 done.").waitFor();
  await dialog.getByText("1 failed and stay selected:").waitFor();
  await dialog.getByText(/1 × .*disabled/).waitFor();
  await expectFitToShow(page, "bulk-refused");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByText("1 selected").waitFor();
  await page.getByRole("button", { name: "Retry 1 …" }).waitFor();
});

test("dead letters are deleted together, and what matches a filter is counted before it is replayed", async () => {
  const receiver = await startStatusReceiver(400);
  const server = await startServer();
  await endpointOf(server, "acme", receiver);
  await publish(server, "acme", ["order.paid", "order.paid", "order.sent"]);
  const page = await openDeadLetters(server, 3);
  // by keyboard, faster than the page is drawn: on the first row, and on the second
  await page.evaluate(() => {
    for (const key of "jxjx") document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await page.getByRole("button", { name: "Delete 2 …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 dead letters will be deleted permanently").waitFor();
  await expectFitToShow(page, "bulk-delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("2 of 2 done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await deadLetters(server, 1);
  await page.getByRole("link", { name: "Replay all matching …" }).click();
  await dialog.getByRole("button", { name: "Count" }).click();
  await dialog.getByText("1 delivery will be sent.").waitFor();
});

test("endpoints are disabled together, those that are already are left alone", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer({ started: false });
  for (const tenant of ["acme", "rivals"]) await endpointOf(server, tenant, receiver);
  const off = await endpointOf(server, "acme", receiver);
  await server.call("POST", `/api/v1/tenants/acme/endpoints/${off}/disable`);
  const page = await openDashboard(server, "/endpoints");
  await expect.poll(() => page.locator("tr[data-row]").count()).toBe(3);
  await chooseAll(page);
  await page.getByRole("button", { name: "Disable …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 endpoints will be disabled.").waitFor();
  await dialog.getByText("1 × already disabled").waitFor();
  await expectFitToShow(page, "bulk-endpoints");
  await dialog.getByRole("button", { name: "Disable" }).click();
  await dialog.getByText("2 of 2 done.").waitFor();
  const { json } = await server.call("GET", "/api/v1/endpoints?state=disabled");
  expect(json.data).toHaveLength(3);
});

test("a change is taken back by a key, unless somebody has changed it since", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer({ started: false });
  const id = await endpointOf(server, "acme", receiver);
  const path = `/api/v1/tenants/acme/endpoints/${id}`;
  const timeoutOf = async () => (await server.call("GET", path)).json.timeout_ms;
  await server.call("PATCH", path, { timeout_ms: 1_000 });
  const page = await openDashboard(server, `/tenants/acme/endpoints/${id}?tab=settings`);
  await unfold(page, "Limits");
  const save = async (timeout: string) => {
    await page.getByLabel("Timeout in ms").fill(timeout);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Applies from the next attempt.").waitFor();
    expect(await timeoutOf()).toBe(Number(timeout));
    await page.getByRole("heading", { name: "Settings" }).click();
  };
  await save("2000");
  await expectFitToShow(page, "undo");
  await page.keyboard.press("u");
  await page.getByText("Undone.").waitFor();
  expect(await timeoutOf()).toBe(1_000);
  await expect.poll(() => page.getByLabel("Timeout in ms").inputValue()).toBe("1000");

  await save("3000");
  await server.call("PATCH", path, { timeout_ms: 4_000 });
  await page.getByRole("button", { name: "Undo u" }).click();
  await page.getByText("Not undone: it was changed again in the meantime.").waitFor();
  expect(await timeoutOf()).toBe(4_000);
});

test("an endpoint that was disabled by mistake is on again at once", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer({ started: false });
  const id = await endpointOf(server, "acme", receiver);
  const page = await openDashboard(server, `/tenants/acme/endpoints/${id}`);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("Disabled manually. Deliveries are kept.").waitFor();
  await page.getByRole("button", { name: "Undo u" }).click();
  await page.getByRole("button", { name: "Disable" }).waitFor();
  expect((await server.call("GET", `/api/v1/tenants/acme/endpoints/${id}`)).json.is_active).toBe(true);
});

test("a view is saved, chosen into the address, renamed, removed, and brought back", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/deliveries");
  const views = page.getByRole("group", { name: "Saved views" });
  const nameIt = async (name: string) => {
    await views.getByLabel("View name").fill(name);
    await page.keyboard.press("Enter");
  };
  await page.getByRole("combobox", { name: "State" }).selectOption("dead");
  await views.getByRole("button", { name: "Save view" }).click();
  await nameIt("given up");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("");
  await views.getByRole("button", { name: "given up", exact: true }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?state=dead");
  await views.getByRole("button", { name: "Rename view given up" }).click();
  await nameIt("dead");
  await expectFitToShow(page, "saved-view");
  await page.reload();
  const chosen = views.getByRole("button", { name: "dead", exact: true });
  expect(await chosen.getAttribute("aria-pressed")).toBe("true");
  await views.getByRole("button", { name: "Delete view dead" }).click();
  await page.getByText("View dead deleted.").waitFor();
  await expect.poll(() => chosen.count()).toBe(0);
  await page.getByRole("button", { name: "Undo u" }).click();
  await chosen.waitFor();
});
