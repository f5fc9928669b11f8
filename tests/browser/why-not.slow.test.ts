// A customer says: I did not get invoice 4711. From the overview an operator finds out why in three clicks at most, and
// reads what to do.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { startServer, type TestServer } from "../support/start-server.ts";
import { type StatusReceiver, startStatusReceiver } from "../support/status-receiver.ts";

async function withInvoices(server: TestServer, receiver: StatusReceiver, settings: object = {}) {
  await server.call("PUT", "/api/v1/tenants/acme", { name: "Acme Ltd" });
  const { json } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: receiver.url,
    events: ["invoice.*"],
    ...settings,
  });
  return { id: json.id as string, path: `/api/v1/tenants/acme/endpoints/${json.id}` };
}

async function publish(server: TestServer, subject = "4711"): Promise<string> {
  const { json } = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "invoice.paid",
    subject,
    data: { amount: 5 },
  });
  return json.id;
}

/** Somebody who counts their clicks, from the overview on. */
async function operator(server: TestServer) {
  const page = await openDashboard(server, "/");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  let clicks = 0;
  const click = async (what: Locator) => {
    await what.click();
    clicks += 1;
  };
  return { page, click, clicks: () => clicks };
}

async function bySubject({ page, click }: { page: Page; click: (what: Locator) => Promise<void> }) {
  await click(page.getByRole("button", { name: "Search …" }));
  await page.getByRole("combobox", { name: /subject/ }).fill("4711");
  await click(page.getByRole("option", { name: "Events with subject 4711" }));
}

const row = (page: Page) => page.getByRole("row").filter({ hasText: "4711" });

test("the endpoint is disabled: found by the subject", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  const { path } = await withInvoices(server, receiver);
  await server.call("POST", `${path}/disable`);
  await publish(server);
  const person = await operator(server);
  await bySubject(person);
  await person.click(row(person.page));
  await person.page.getByText("On hold: the endpoint is disabled.").waitFor();
  await person.page.getByText("The delivery continues when the endpoint is enabled").waitFor();
  await expectFitToShow(person.page, "why-disabled");
  expect(person.clicks()).toBe(3);
});

test("the filter keeps it away: found by the customer's name", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await withInvoices(server, receiver, { filter: { data: { amount: { $gte: 100 } } } });
  await publish(server);
  const { page, click, clicks } = await operator(server);
  await click(page.getByRole("button", { name: "Search …" }));
  await page.getByRole("combobox", { name: /tenant/ }).fill("acme l");
  await click(page.getByRole("option", { name: "Events of Acme Ltd" }));
  await click(row(page));
  await page.getByText("The filter condition at /data/amount/$gte did not match.").waitFor();
  await page.getByText("If it should receive this event, change the filter").waitFor();
  await expectFitToShow(page, "why-filter");
  expect(clicks()).toBe(3);
});

test("the receiver refused it: found by the event's id", async () => {
  const receiver = await startStatusReceiver(404);
  const server = await startServer();
  await withInvoices(server, receiver);
  const event = await publish(server);
  const { page, click, clicks } = await operator(server);
  await click(page.getByRole("button", { name: "Search …" }));
  await page.getByRole("combobox").fill(event);
  await click(page.getByRole("option", { name: event }));
  await page.getByText("The receiver rejected the event.").waitFor({ timeout: 20_000 });
  await page.getByText("fix the receiver, then retry").waitFor();
  expect(clicks()).toBe(2);
});

test("the circuit is open: found by the subject", async () => {
  const receiver = await startStatusReceiver(500);
  const server = await startServer();
  const { path } = await withInvoices(server, receiver, { retry_policy: "20m" });
  for (let other = 0; other < 12; other += 1) await publish(server, `other-${other}`);
  const circuit = async () => (await server.call("GET", path)).json.circuit;
  await expect.poll(circuit, { timeout: 30_000 }).toBe("open");
  await publish(server);
  const person = await operator(server);
  await bySubject(person);
  await person.click(row(person.page));
  await person.page.getByText(/Circuit (open|half-open)/).waitFor();
  expect(person.clicks()).toBe(3);
});

test("the tenant is inactive: found by the subject", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await withInvoices(server, receiver);
  await server.call("PUT", "/api/v1/tenants/acme", { is_active: false });
  await publish(server);
  const person = await operator(server);
  await bySubject(person);
  await person.click(row(person.page));
  await person.page
    .getByText(/the tenant is inactive/i)
    .first()
    .waitFor();
  await person.page
    .getByText(/activate/i)
    .first()
    .waitFor();
  expect(person.clicks()).toBe(3);
});

test("its data did not fit the schema, so it was never accepted: the empty list says where to look", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await withInvoices(server, receiver);
  await server.call("PUT", "/api/v1/event-types/invoice.paid", {
    schema: { type: "object", required: ["number"] },
  });
  const { status } = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "invoice.paid",
    subject: "4711",
    data: {},
  });
  expect(status).toBe(422);
  const person = await operator(server);
  await bySubject(person);
  await person.page.getByText("Rejected events are not stored.").waitFor();
  await expectFitToShow(person.page, "why-never");
  expect(person.clicks()).toBe(2);
});
