// What operators do when something did not arrive, in a real browser.
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { startServer, type TestServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function withEndpoint(server: TestServer, url: string, settings: object = {}): Promise<string> {
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const { json } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url,
    events: ["order.*"],
    ...settings,
  });
  return json.id;
}

const publish = (server: TestServer, order: number) =>
  server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.paid",
    subject: "order-1",
    data: { order, total: 10 * order },
  });

test("a dead letter is found, understood, and retried until it is delivered", async () => {
  const receiver = await startStatusReceiver(404, "no such route");
  const server = await startServer();
  await withEndpoint(server, receiver.url);
  await publish(server, 1);
  const page = await openDashboard(server, "/dead-letters");
  const row = page.getByRole("row").filter({ hasText: "order.paid" });
  await row.waitFor();
  await expectFitToShow(page, "dead-letters");
  // where it was to go, in the list and on its own screen; and what the answer means, before anything else
  await row.filter({ hasText: receiver.url }).waitFor();
  await row.filter({ hasText: "rejected (4xx)" }).waitFor();
  await row.click();
  await page.getByRole("note").getByText("The receiver returned HTTP 404").waitFor();
  await page.getByRole("link", { name: receiver.url }).waitFor();
  await page.getByText("no such route").waitFor();
  await page.getByText("X-Webhook-Signature").first().waitFor();
  await expectFitToShow(page, "delivery");

  receiver.answer.status = 200;
  await page.getByRole("button", { name: "Retry now" }).click();
  await page.getByText("delivered", { exact: true }).waitFor();
  await page.getByText("manual retry").waitFor();
  expect(receiver.requests).toHaveLength(2);
});

test("an event shows who got it, who did not and why, and what changed since the one before", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await withEndpoint(server, receiver.url);
  await server.call("POST", "/api/v1/tenants/acme/endpoints", { url: receiver.url, events: ["invoice.*"] });
  await publish(server, 1);
  await publish(server, 2);
  const page = await openDashboard(server, "/events");
  await page.getByRole("row").filter({ hasText: "order-1" }).first().waitFor();
  await expectFitToShow(page, "events");
  await page.getByRole("row").filter({ hasText: "order-1" }).first().click();
  await page.getByText("Not subscribed to order.paid.").waitFor();
  await page.getByText("delivered", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Compare with previous event" }).click();
  await page.getByText("/total").waitFor();
  await expectFitToShow(page, "event");
});

test("what waits says when it is tried again, and what is owed is in the retry queue", async () => {
  const receiver = await startStatusReceiver(500, "broken");
  const server = await startServer();
  await withEndpoint(server, receiver.url, { retry_policy: "20m,1h" });
  await publish(server, 1);
  const page = await openDashboard(server, "/retry-queue");
  await page.getByRole("row").filter({ hasText: "will retry" }).waitFor({ timeout: 20_000 });
  await expectFitToShow(page, "retry-queue");
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.getByText(/Next attempt in \d+m/).waitFor();
  await page.getByText("1 of 3 attempts used").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("The delivery was cancelled").first().waitFor();
});

test("a filter is in the address, and a list that it empties says so", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await withEndpoint(server, receiver.url);
  await publish(server, 1);
  const page = await openDashboard(server, "/deliveries");
  await page.getByRole("row").filter({ hasText: "order.paid" }).waitFor();
  await expectFitToShow(page, "deliveries");
  await page.getByRole("combobox", { name: "State" }).selectOption("dead");
  await page.getByText("No results for these filters").waitFor();
  expect(new URL(page.url()).searchParams.get("state")).toBe("dead");
  await page.reload();
  await page.getByText("No results for these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("row").filter({ hasText: "order.paid" }).waitFor();
});

test("a replay is counted first, runs, and is cancelled half-way", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await withEndpoint(server, receiver.url);
  const batch = Array.from({ length: 250 }, (_, order) => ({
    tenant: "acme",
    type: "order.paid",
    data: { order },
  }));
  for (let round = 0; round < 4; round += 1) await server.call("POST", "/api/v1/events", batch);
  await expect.poll(() => receiver.requests.length, { timeout: 60_000 }).toBe(1_000);
  const page = await openDashboard(server, "/replays");
  await page.getByRole("button", { name: "New replay" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Deliveries").selectOption("success");
  await dialog.getByLabel("Deliveries per second").fill("50");
  await dialog.getByRole("button", { name: "Count" }).click();
  await dialog.getByText("1,000 deliveries will be sent.").waitFor();
  await expectFitToShow(page, "replay-start");
  await dialog.getByRole("button", { name: "Start replay" }).click();
  await page.getByText("running", { exact: true }).waitFor();
  await expect.poll(() => receiver.requests.length, { timeout: 60_000 }).toBeGreaterThan(1_050);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  await expectFitToShow(page, "replay");
  const { json } = await server.call("GET", "/api/v1/replays");
  expect(json.data[0].state).toBe("cancelled");
  expect(json.data[0].done).toBeLessThan(1_000);
});
