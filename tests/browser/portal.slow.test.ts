// The portal in a real browser: branding, a change of session, and the main task of each screen by
// keyboard alone.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { expectAccessible, expectFitToShow, openPage, screenshot } from "../support/processes/browser.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";

async function portalLink(server: TestServer, tenant: string): Promise<string> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
  const { json } = await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`, {});
  return json.url;
}

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>window.canary=1</script><circle cx="4" cy="4" r="4" fill="#d22"/></svg>`;
const logoUrl = `data:image/svg+xml;base64,${Buffer.from(logo).toString("base64")}`;

test("name, logo, accent colour and dark appearance apply, also after the link has expired", async () => {
  const name = `Acme "Hooks" </title><x-canary>`;
  const server = await startServer({
    started: false,
    portal: { name, logoUrl, accent: "#fff3a0", appearance: "dark" },
  });
  const link = await portalLink(server, "acme");
  const { page } = await openPage(link, { locale: "en-GB", colorScheme: "light" });
  await page.getByText("No endpoints yet").waitFor();
  expect(await page.title()).toBe(`Endpoints – ${name}`);
  expect(await page.locator("aside").getByText(name).count()).toBe(1);
  expect(await page.locator("aside img").evaluate((image: HTMLImageElement) => image.naturalWidth > 0)).toBe(
    true,
  );
  expect(await page.evaluate(() => "canary" in window)).toBe(false);
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  expect(await page.getByRole("button", { name: "Dark theme" }).count()).toBe(0);
  const button = page.getByRole("link", { name: "Add endpoint" }).first();
  expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe(
    "rgb(255, 243, 160)",
  );
  await expectAccessible(page);
  await screenshot(page, "portal-theme-dark");
  await page.goto(link);
  const { page: late } = await openPage(link, { locale: "en-GB", colorScheme: "light" });
  await late.getByText("This link has expired or was already used").waitFor();
  expect(await late.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await expectAccessible(late);
});

/** Returns the id of a successful delivery. */
async function deliver(server: TestServer): Promise<string> {
  const { url } = await startReceiver();
  await server.newEndpoint({ url }, "acme");
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  const tried = async () => (await server.call("GET", `/api/v1/deliveries?state=success`)).json.data[0]?.id;
  return await eventually("the event is delivered", tried);
}

test("a link works once, and a tab shows nothing of its tenant after another tab opened the portal of another one", async () => {
  const server = await startServer();
  // a finished delivery is not requested again
  const delivery = await deliver(server);
  const link = await portalLink(server, "acme");
  const { page } = await openPage(link, { locale: "en-GB" });
  await page.getByRole("navigation").first().waitFor();
  const { page: second } = await openPage(link, { locale: "en-GB" });
  await second.getByText("This link has expired or was already used").waitFor();
  await expectFitToShow(second, "portal-used");
  await page.goto(`${server.url}/portal/deliveries/${delivery}`);
  await page.getByText("order.paid").first().waitFor();
  const other = await page.context().newPage();
  await other.goto(await portalLink(server, "rivals"));
  await page.getByText("Not found").waitFor();
  expect(await page.getByText("order.paid").count()).toBe(0);
});

test("a customer adds an endpoint, finds a failure, retries, replays, and rotates the secret by keyboard alone", async () => {
  const receiver = await startReceiver({ status: 404, body: "not here" });
  const server = await startServer();
  await server.call("PUT", "/api/v1/event-types/order.paid", { example: { id: 1 } });
  const { page } = await openPage(await portalLink(server, "acme"), { locale: "en-GB" });
  await page.getByText("No endpoints yet").waitFor();

  await press(page, "Add endpoint");
  await tabTo(page, "URL");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(receiver.url);
  await page.keyboard.press("Enter");
  await page.getByText(/^whsec_/).waitFor();
  await press(page, "Send test event");
  await page.getByText("The receiver returned HTTP 404").waitFor();

  await keys(page, "g", "l");
  await page.getByRole("row").filter({ hasText: "webhook.test" }).waitFor();
  await keys(page, "j", "o");
  receiver.answer("/", 200);
  await press(page, "Retry now");
  await receiver.received(2);

  await keys(page, "g", "c");
  await page.getByRole("row").filter({ hasText: "order.paid" }).waitFor();
  await keys(page, "j", "o");
  await page.getByText("Example", { exact: true }).waitFor();

  await keys(page, "g", "r");
  await press(page, "New replay");
  await press(page, "Count");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await keys(page, "g", "p");
  await page.getByRole("row").filter({ hasText: receiver.url }).waitFor();
  await keys(page, "j", "o");
  await press(page, "Secrets");
  await press(page, "Rotate");
  await page.getByRole("dialog").waitFor();
});

async function keys(page: Page, ...pressed: string[]): Promise<void> {
  for (const key of pressed) await page.keyboard.press(key);
}

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
