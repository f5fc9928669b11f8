// A change of session in another tab.
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function linkOf(server: TestServer, tenant: string): Promise<string> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
  return (await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`, {})).json.url;
}

/** Returns the id of a successful delivery. */
async function deliver(server: TestServer): Promise<string> {
  const { url } = await startStatusReceiver();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const endpoint = { url, events: ["*"] };
  await server.call("POST", "/api/v1/tenants/acme/endpoints", endpoint);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  const tried = async () => (await server.call("GET", `/api/v1/deliveries?state=success`)).json.data[0]?.id;
  await expect.poll(tried, { timeout: 10_000 }).toBeDefined();
  return await tried();
}

test("a tab shows nothing of the previous tenant after another tab opened the portal of another one", async () => {
  const server = await startServer();
  // a finished delivery is not requested again
  const delivery = await deliver(server);
  const { page } = await openPage(await linkOf(server, "acme"), { locale: "en-GB" });
  await page.getByRole("navigation").first().waitFor();
  await page.goto(`${server.url}/portal/deliveries/${delivery}`);
  await page.getByText("order.paid").first().waitFor();
  const other = await page.context().newPage();
  await other.goto(await linkOf(server, "rivals"));
  await page.getByText("Not found").waitFor();
  expect(await page.getByText("order.paid").count()).toBe(0);
});
