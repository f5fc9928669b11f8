// What people and other people's data do to a page, in a real browser: press twice, hold Enter, come by an address that is
// none, bring an event of a quarter of a megabyte, or become somebody else in another tab.
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { openDashboard } from "../support/dashboard.ts";
import { holdBack } from "../support/hold-back.ts";
import { adminKey, startServer, type TestServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function linkOf(server: TestServer, tenant: string): Promise<string> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
  return (await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`, {})).json.url;
}

/** One that was delivered, or is tried again in 20 minutes; its id. */
async function deliveryThat(state: "success" | "failed", server: TestServer): Promise<string> {
  const { url } = await startStatusReceiver(state === "success" ? 200 : 500);
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const endpoint = { url, events: ["*"], retry_policy: "20m" };
  await server.call("POST", "/api/v1/tenants/acme/endpoints", endpoint);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  const tried = async () => (await server.call("GET", `/api/v1/deliveries?state=${state}`)).json.data[0]?.id;
  await expect.poll(tried, { timeout: 10_000 }).toBeDefined();
  return await tried();
}

test("a key that is made by pressing twice is one key", async () => {
  const server = await startServer();
  const page = await openDashboard(server, "/keys");
  const { asked, release } = await holdBack(page, "changes");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("twice");
  await page.getByLabel("events:publish").check();
  await page.getByRole("dialog").getByRole("button").last().dblclick();
  release();
  await page.getByText(/^phk_/).waitFor();
  expect(asked).toEqual(["POST /api/v1/keys"]);
});

test("a replay that is started by Enter, however often, is one replay", async () => {
  const server = await startServer();
  const page = await openDashboard(server, "/replays");
  await page.getByRole("button", { name: "New replay" }).click();
  await page.getByRole("dialog").getByLabel("Event type").fill("order.paid");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("0 deliveries will be sent.").waitFor();
  const { asked, release } = await holdBack(page, "changes");
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("Enter");
  release();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect(asked).toEqual(["POST /api/v1/replays"]);
});

test("an endpoint that a customer adds by pressing twice is one endpoint", async () => {
  const server = await startServer();
  const { page } = await openPage(await linkOf(server, "acme"), { locale: "en-GB" });
  await page.getByRole("link", { name: "Add endpoint" }).first().click();
  const { asked, release } = await holdBack(page, "changes");
  await page.getByLabel("URL").fill("https://example.com/hooks");
  await page.locator("form button[type=submit]").dblclick();
  release();
  await page.getByText("whsec_").waitFor();
  expect(asked).toEqual(["POST /api/v1/tenants/acme/endpoints"]);
});

test("a delivery that is retried or called off by pressing twice is so once", async () => {
  const server = await startServer();
  const path = `/deliveries/${await deliveryThat("failed", server)}`;
  const page = await openDashboard(server, path);
  const { asked, release } = await holdBack(page, "changes");
  await page.getByRole("button", { name: "Cancel" }).dblclick();
  await page.getByRole("button", { name: "Retry now" }).dblclick();
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  expect(asked).toEqual([`POST /api/v1${path}/cancel`, `POST /api/v1${path}/retry`]);
  release();
});

test("a tenant that was deleted meanwhile is not made anew by a switch on its page", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const page = await openDashboard(server, "/tenants/acme");
  await page.getByRole("button", { name: "Deactivate" }).waitFor();
  await server.call("DELETE", "/api/v1/tenants/acme");
  await page.getByRole("button", { name: "Deactivate" }).click();
  await page.getByText(/There is no tenant/).waitFor();
  expect((await server.call("GET", "/api/v1/tenants/acme")).status).toBe(404);
});

test("an address with a time that is none shows the screen, and what is wrong", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/deliveries?created_after=yesterday");
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  await page.getByRole("alert").getByText("created_after").waitFor();
});

test("a screen that breaks leaves the rest of the page, and the way to the others", async () => {
  const server = await startServer({ started: false });
  const { page, complaints } = await openPage(server.url, { locale: "en-GB" });
  await page.getByLabel("API key").fill(adminKey);
  await page.keyboard.press("Enter");
  await page.route("**/api/v1/tenants?*", (route) => route.fulfill({ json: null }));
  await page.getByRole("link", { name: "Tenants" }).click();
  await page.getByText("This page failed to render").waitFor();
  expect(complaints.splice(0)).toEqual([expect.stringContaining("TypeError")]);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "New key" }).waitFor();
});

test("an event of a quarter of a megabyte is shown in part, and all of it without holding the page up", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const data = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, index]));
  const { json } = await server.call("POST", "/api/v1/events", { tenant: "acme", type: "large", data });
  const page = await openDashboard(server, `/events/${json.id}`);
  await page.getByText('"k100"').waitFor();
  expect(await page.getByText('"k14999"').count()).toBe(0);
  await page.getByRole("button", { name: /Show all 2\d\d\.\d KB/ }).click();
  await page.getByText('"k14999": 14999').waitFor();
  // each would be an element of its own with colours
  expect(await page.locator("pre span").count()).toBe(0);
});

test("whoever becomes another customer in one tab sees nothing of the first in the others", async () => {
  const server = await startServer();
  // nothing changes about it any more, so nobody asks for it again
  const delivery = await deliveryThat("success", server);
  const { page } = await openPage(await linkOf(server, "acme"), { locale: "en-GB" });
  await page.getByRole("navigation").first().waitFor();
  await page.goto(`${server.url}/portal/deliveries/${delivery}`);
  await page.getByText("order.paid").first().waitFor();
  const other = await page.context().newPage();
  await other.goto(await linkOf(server, "rivals"));
  await page.getByText("Not found").waitFor();
  expect(await page.getByText("order.paid").count()).toBe(0);
});
