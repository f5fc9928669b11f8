// Why was an event not delivered? The dashboard and the portal answer in a few clicks. Also takes the screenshots of the
// README: POSTHORN_SCREENSHOTS=docs/images npx vitest run --project browser tests/browser/why.test.ts
import { expect, test } from "vitest";
import { openPage, screenshot } from "../support/browser.ts";
import { startBusyShop } from "../support/busy-shop.ts";
import { openDashboard } from "../support/dashboard.ts";

const sized = (height: number) => ({ viewport: { width: 1280, height } });

test("an operator finds out in three clicks from the overview why an event was not delivered", async () => {
  const { server, failing } = await startBusyShop();
  const page = await openDashboard(server, "/", sized(640));
  await page.getByText("1 failure", { exact: true }).first().waitFor({ timeout: 30_000 });
  await page.getByRole("figure").first().waitFor();
  await screenshot(page, "overview", { fullPage: false });

  await page.getByRole("link", { name: "Retry queue" }).click();
  await page.getByRole("row").filter({ hasText: "invoice.paid" }).click();
  await page.getByRole("note").getByText("The receiver returned HTTP 500").waitFor();
  await page.getByText(/Next attempt in/).waitFor();
  await page.getByText("could not connect to the orders database").first().waitFor();
  await page.getByText(failing.url).first().waitFor();
  await page.setViewportSize({ width: 1280, height: 820 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await screenshot(page, "delivery", { fullPage: false });
});

test("a customer sees in the portal which endpoint fails and why", async () => {
  const { server } = await startBusyShop();
  const { json } = await server.call("POST", "/api/v1/tenants/globex/portal-links", {});
  const { page } = await openPage(json.url, { locale: "en-GB", ...sized(780) });
  await page.getByRole("row").filter({ hasText: "degraded" }).click();
  await page.getByText("Billing").first().waitFor();
  await page.getByRole("figure").first().waitFor();
  await screenshot(page, "portal", { fullPage: false });
  await page.getByRole("link", { name: "Logs" }).click();
  const row = page.getByRole("row").filter({ hasText: "will retry" });
  await row.click();
  await page.getByRole("note").getByText("The receiver returned HTTP 500").waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/portal\/deliveries\/dlv_/);
});
