// What holds for all screens of tenants, endpoints and the catalogue: text from outside stays text, and an empty list
// says which kind of empty it is.
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";

const HOSTILE = '<img src="x" onerror="alert(1)"><script>alert(2)</script>{{7*7}}‮';

test("whatever customers and receivers write is shown as it was written, and does nothing", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  receiver.answer("/in", { status: 500, body: Buffer.from(HOSTILE) });
  await server.call("PUT", "/api/v1/tenants/acme", { name: HOSTILE });
  await server.call("PUT", "/api/v1/event-types/order.paid", {
    description: HOSTILE,
    schema: { type: "object", description: HOSTILE },
    example: { text: HOSTILE },
    redact: ["/<img src=x>"],
  });
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/in?<script>alert(3)</script>`,
    description: HOSTILE,
    events: ["*"],
    filter: { data: { text: { $ne: HOSTILE } } },
  });
  const path = `/tenants/acme/endpoints/${endpoint.id}`;
  await server.call("POST", `/api/v1${path}/test`, { data: { text: HOSTILE } });
  await receiver.received(1);
  const page = await openDashboard(server, "/tenants");
  const screens: readonly [path: string, shown: RegExp][] = [
    ["/tenants", /onerror/],
    ["/tenants/acme", /onerror/],
    ["/endpoints", /127\.0\.0\.1/],
    [path, /500/],
    [`${path}?tab=secrets`, /current/],
    [`${path}?tab=filter`, /Would it get this/],
    [`${path}?tab=test`, /Send it/],
    [`${path}?tab=settings`, /Timeout/],
    ["/catalogue", /onerror/],
    ["/catalogue/order.paid", /onerror/],
  ];
  for (const [screen, shown] of screens) {
    await page.goto(server.url + screen);
    await page.locator("main").filter({ hasText: shown }).waitFor();
    expect([screen, await page.locator("main img, main script").count()]).toEqual([screen, 0]);
  }
});

test("whoever may not see tenants is told so, and nothing else", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json } = await server.call("POST", "/api/v1/keys", { name: "looks", scopes: ["deliveries:read"] });
  const page = await openDashboard(server, "/tenants", { key: json.key });
  await page.getByText("You may not see this").waitFor();
  expect(await page.getByText("acme").count()).toBe(0);
});

test("a filter that leaves nothing can be taken away, which is not the same as having no endpoints", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/endpoints");
  await page.getByText("There is no endpoint yet").waitFor();
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: "http://127.0.0.1:4999/in",
    events: ["*"],
  });
  await page.goto(`${server.url}/endpoints?which=disabled&tenant=acme`);
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("http://127.0.0.1:4999/in").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("the screens speak German to whoever does", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/tenants", { locale: "de-DE" });
  await page.getByText("Es gibt noch keinen Mandanten").waitFor();
  await page.getByRole("button", { name: "Neuer Mandant" }).click();
  await page.getByRole("dialog").getByLabel("Id", { exact: true }).fill("acme");
  await page.getByRole("dialog").getByRole("button", { name: "Anlegen" }).click();
  await page.getByText("Er hat noch keinen Endpunkt").waitFor();
});
