// Why was an event not delivered? The dashboard and the portal answer in a few clicks. Also takes the screenshots of the
// README: POSTHORN_SCREENSHOTS=docs/images npx vitest run --project browser tests/browser/why.test.ts
import { expect, test } from "vitest";
import { queryOnce } from "../support/database/own-postgres.ts";
import { openDashboard, openPage, screenshot } from "../support/processes/browser.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";

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

const EVENTS = {
  "invoice.paid": { invoice: "INV-2041", customer: "C-118", total: 249.9, currency: "EUR" },
  "order.shipped": { order: "O-7731", carrier: "DHL", tracking: "JD014600006228974315", items: 3 },
  "customer.created": { customer: "C-131", name: "Ada Example", plan: "team" },
};

/** Starts a typical installation: three customers, a day of deliveries, and one receiver that returns HTTP 500. */
async function startBusyShop(): Promise<{ server: TestServer; failing: { id: string; url: string } }> {
  const receiver = await startReceiver();
  receiver.answer("/billing", { status: 500, body: '{"error":"could not connect to the orders database"}' });
  const server = await startServer();
  const { call } = server;
  for (const [name, example] of Object.entries(EVENTS))
    await call("PUT", `/api/v1/event-types/${name}`, { example });
  const add = async (tenant: string, path: string, description: string, events = ["*"]) => {
    const url = receiver.url + path;
    const input = { url, name: description, events, retry_policy: "5m,15m,1h,6h" };
    return { url, ...(await server.newEndpoint(input, tenant)) };
  };
  const acme = await add("acme", "/webhooks", "Order service");
  const globex = await add("globex", "/hooks/posthorn", "ERP");
  const failing = await add("globex", "/billing", "Billing", ["invoice.*"]);
  await add("initech", "/in", "Data warehouse");
  await fillDay(server.connectionString, [acme.id, globex.id], failing.id);
  for (const tenant of ["acme", "initech", "globex"]) {
    for (const [type, data] of Object.entries(EVENTS))
      await call("POST", "/api/v1/events", { tenant, type, data, subject: Object.values(data)[0] });
  }
  // the portal's list of endpoints is loaded once
  const failed = async () => (await call("GET", "/api/v1/endpoints?state=failing")).json.data;
  await expect.poll(failed).toMatchObject([{ id: failing.id }]);
  return { server, failing };
}

/** Writes the statistics of a day as workers would: a wave per endpoint, with failures of one in the last three hours. */
async function fillDay(database: string, healthy: readonly string[], failing: string): Promise<void> {
  const rows = [`(60, 60, '00000000-0000-0000-0000-000000000000'::uuid, false)`];
  for (const id of [...healthy, failing]) {
    const endpoint = `'${id.slice(3)}', ${id === failing}`;
    rows.push(`(300, 288, ${endpoint})`, `(3600, 24, ${endpoint})`);
  }
  await queryOnce(
    database,
    `insert into posthorn.activity
     select width, to_timestamp((floor(extract(epoch from now()) / width) - ago) * width), endpoint,
       round(attempts * case when is_bad then 0.2 else 1 end), round(attempts * case when is_bad then 0.8 else 0.01 end), 0,
       array(select round(attempts * share / 100.0)::integer
         from unnest('{0,0,0,0,2,6,14,26,24,14,7,4,2,1,0,0,0,0,0,0,0,0,0,0}'::integer[]) share)
     from (values ${rows.join()}) lines (width, count, endpoint, fails),
       generate_series(0, count - 1) ago,
       lateral (select width / 3.6 * (1 + 0.5 * sin(ago * width / 14400.0)) as attempts, fails and ago * width < 10800 as is_bad) wave
     on conflict do nothing`,
  );
}
