// The size of the first load, and the live tail of a browser that was offline.
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { adminKey, startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

test("the first load is less than 200 KB compressed, and loads nothing from other hosts", async () => {
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
    .or(page.getByLabel(/key|Schlüssel/))
    .first()
    .fill(adminKey);
  await page.keyboard.press("Enter");
  await page.getByRole("figure").first().waitFor();
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(sizes.length).toBeGreaterThan(3);
  expect(total).toBeLessThan(200_000);
  expect(elsewhere).toEqual([]);
});

test("the live tail shows deliveries live, and those missed while offline", async () => {
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
