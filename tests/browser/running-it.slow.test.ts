// Signing in, the overview, the live tail through a restart, keys, the audit log and the system, in a real browser.
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { adminKey, startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

test("whoever has no valid key stays outside, and whoever signs out is outside again", async () => {
  const server = await startServer();
  const { page } = await openPage(`${server.url}/`, { locale: "en-GB" });
  await page.getByLabel("API key").fill("phk_wrong_key_of_nobody_at_all_0123456789");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This key is not valid. It may have been revoked or have expired.").waitFor();
  await expectFitToShow(page, "sign-in");
  await page.getByLabel("API key").fill(adminKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  expect(await page.evaluate(() => document.cookie)).toBe("");
});

test("the first load is less than 200 KB compressed, and nothing of it comes from elsewhere", async () => {
  const server = await startServer();
  const { page } = await openPage("about:blank");
  const sizes: Promise<number>[] = [];
  const elsewhere: string[] = [];
  page.on("response", (response) => {
    if (!response.url().startsWith(server.url)) elsewhere.push(response.url());
    if (!response.url().includes("/assets/")) return;
    const size = response.request().sizes();
    sizes.push(size.then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(server.url);
  await page
    .getByRole("textbox")
    .or(page.getByLabel(/Key|Schlüssel/))
    .first()
    .fill(adminKey);
  await page.keyboard.press("Enter");
  await page.getByRole("figure").first().waitFor();
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(sizes.length).toBeGreaterThan(3);
  expect(total).toBeLessThan(200_000);
  expect(elsewhere).toEqual([]);
});

test("the overview counts what was sent, and shows who is in trouble", async () => {
  const receiver = await startStatusReceiver(500, "broken");
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const endpoint = { url: receiver.url, events: ["*"], retry_policy: "20m" };
  await server.call("POST", "/api/v1/tenants/acme/endpoints", endpoint);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  const page = await openDashboard(server, "/");
  await page.getByText("1 failure", { exact: true }).first().waitFor({ timeout: 30_000 });
  await expectFitToShow(page, "overview");
});

test("the live tail shows a delivery as it comes, also after the server was away", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  await server.call("POST", "/api/v1/tenants/acme/endpoints", { url: receiver.url, events: ["*"] });
  const page = await openDashboard(server, "/tail");
  await page.getByText("live", { exact: true }).waitFor();
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.first", data: {} });
  await page.getByRole("row").filter({ hasText: "order.first" }).waitFor();
  await expectFitToShow(page, "tail");
  await page.context().setOffline(true);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.missed", data: {} });
  await page.context().setOffline(false);
  await page.getByRole("row").filter({ hasText: "order.missed" }).waitFor({ timeout: 60_000 });
});

test("a key is made, shown once, and revoked; the audit log has both", async () => {
  const server = await startServer();
  const page = await openDashboard(server, "/keys");
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("billing");
  await dialog.getByLabel("events:publish").check();
  await expectFitToShow(page, "key-new");
  await dialog.getByRole("button", { name: "Create" }).click();
  const shown = await dialog.getByText(/^phk_/).textContent();
  await dialog.getByRole("button", { name: "Close" }).click();
  const row = page.getByRole("row").filter({ hasText: "billing" });
  await row.waitFor();
  await expectFitToShow(page, "keys");
  await row.getByRole("button", { name: "Revoke" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect.poll(() => row.count()).toBe(0);
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByText("keys.revoke").waitFor();
  await page.getByText("keys.create").waitFor();
  expect(await page.content()).not.toContain(String(shown));
  await expectFitToShow(page, "audit");
});

test("the system screen has the worker that runs, and the keyboard leads there", async () => {
  const server = await startServer();
  const page = await openDashboard(server, "/");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByText("alive", { exact: true }).first().waitFor();
  await expectFitToShow(page, "system");
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Keyboard shortcuts").waitFor();
});
