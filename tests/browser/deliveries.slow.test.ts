// From a dead letter to its cause and a successful retry, in a real browser.
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

test("a dead letter explains its cause and is retried successfully", async () => {
  const receiver = await startStatusReceiver(404, "no such route");
  const server = await startServer();
  await withEndpoint(server, receiver.url);
  await publish(server, 1);
  const page = await openDashboard(server, "/dead-letters");
  const row = page.getByRole("row").filter({ hasText: "order.paid" });
  await row.waitFor();
  await expectFitToShow(page, "dead-letters");
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
