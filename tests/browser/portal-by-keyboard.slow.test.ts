// The main task of each screen of the portal, by keyboard alone.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

test("a customer adds an endpoint, finds a failure, retries, replays, and rotates the secret by keyboard alone", async () => {
  const receiver = await startStatusReceiver(404, "not here");
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  await server.call("PUT", "/api/v1/event-types/order.paid", { example: { id: 1 } });
  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const { page } = await openPage(json.url, { locale: "en-GB" });
  await page.getByText("No endpoints yet").waitFor();

  await press(page, "Add endpoint");
  await tabTo(page, "URL");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(receiver.url);
  await page.keyboard.press("Enter");
  await page.getByText(/^whsec_/).waitFor();
  await press(page, "Send test event");
  await page.getByText("The receiver returned HTTP 404").waitFor();

  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.getByRole("row").filter({ hasText: "webhook.test" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  receiver.answer.status = 200;
  await press(page, "Retry now");
  await expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBe(2);

  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.getByRole("row").filter({ hasText: "order.paid" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.getByText("Example", { exact: true }).waitFor();

  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await press(page, "New replay");
  await press(page, "Count");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.getByRole("row").filter({ hasText: receiver.url }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await press(page, "Secrets");
  await press(page, "Rotate");
  await page.getByRole("dialog").waitFor();
});

/** Presses Tab until the element has the focus, then activates it. */
async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

async function tabTo(page: Page, name: string): Promise<void> {
  await page.getByText(name).first().waitFor();
  for (let steps = 0; steps < 80; steps += 1) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      return (
        element?.labels?.[0]?.textContent ?? element?.getAttribute("aria-label") ?? element?.textContent ?? ""
      );
    });
    if (focused.trim() === name) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${name} cannot be reached by Tab.`);
}
