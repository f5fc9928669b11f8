// From nothing to one's own webhooks, in a real browser: with the sink of a development server, and without one.
import { expect, test } from "vitest";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { deliverFirstEvent, SINK_ID } from "../../packages/server/src/cli/local/dev-demo.ts";
import { operatorLink } from "../../packages/server/src/cli/local/operator-link.ts";
import { openPage } from "../support/browser.ts";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { adminKey, startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function startWithSink() {
  const sink = new Sink();
  const server = await startServer({ sink: { sink, readers: "public" } });
  await deliverFirstEvent(server.hooks, sink, `${server.url}/sink/${SINK_ID}`, 10_000);
  return { server, sink };
}

test("the link of a new installation leads to three steps, and their ticks come as things happen", async () => {
  const { server, sink } = await startWithSink();
  const link = await operatorLink(server.hooks, server.url, adminKey);
  const { page } = await openPage(String(link), { locale: "en-GB" });
  const step = (title: string) => page.getByRole("listitem", { name: title });
  const isDone = (title: string) => page.getByRole("listitem", { name: `${title} – done` });
  await step("Publish an event").waitFor();
  expect(new URL(page.url()).pathname).toBe("/first-run");
  expect(await page.getByRole("listitem", { name: "done" }).count()).toBe(0);
  await expectFitToShow(page, "first-run");

  await page.getByRole("button", { name: "Publish an event" }).click();
  await isDone("Publish an event").waitFor();
  await isDone("See it delivered to the sink").waitFor();
  expect(sink.requests(SINK_ID)[0]?.headers["x-webhook-event"]).toBe("order.paid");

  const receiver = await startStatusReceiver(500, "out of order");
  const own = step("Add your own endpoint");
  await own.getByLabel("URL").fill(receiver.url);
  await own.getByRole("button", { name: "Add endpoint" }).click();
  await own.getByText(/^whsec_/).waitFor();
  await own.getByRole("button", { name: "Send test event" }).click();
  await own.getByText("Not delivered yet").waitFor();
  await expectFitToShow(page, "first-run-failed");
  receiver.answer.status = 200;
  await own.getByRole("button", { name: "Send another test event" }).click();
  await isDone("Add your own endpoint").waitFor();
  await page.getByText("All done.").waitFor();
  await expectFitToShow(page, "first-run-done");

  await page.reload();
  for (const title of ["Publish an event", "See it delivered to the sink", "Add your own endpoint"])
    await isDone(title).waitFor();
  await isDone("See it delivered to the sink").getByRole("link", { name: "Open delivery" }).click();
  await page.getByRole("heading", { name: /^dlv_/ }).waitFor();
  expect(await operatorLink(server.hooks, server.url, adminKey)).toContain(`${server.url}/#code=`);
});

test("an event that is published by the command that is shown gets its ticks too", async () => {
  const { server } = await startWithSink();
  const page = await openDashboard(server, "/first-run");
  const command = (await page.getByText(/^curl /).textContent()) ?? "";
  const [, body = ""] = /-d '(.*)'$/.exec(command) ?? [];
  expect(command).toContain(`curl ${server.url}/api/v1/events`);
  expect((await server.call("POST", "/api/v1/events", body)).status).toBe(202);
  await page.getByRole("listitem", { name: "See it delivered to the sink – done" }).waitFor();
});

test("without a sink one's own endpoint comes first, with its tenant, and the event goes there", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  const page = await openDashboard(server, "/first-run");
  await page.getByText("This server has no built-in sink").waitFor();
  const titles = ["Add your own endpoint", "Publish an event", "See it delivered"];
  expect(await page.getByRole("main").getByRole("heading", { level: 2 }).allInnerTexts()).toEqual(titles);
  await expectFitToShow(page, "first-run-without-sink");
  const send = page.getByRole("button", { name: "Publish an event" });
  expect(await send.getAttribute("aria-disabled")).toBe("true");
  await page.getByLabel("Tenant").fill("acme");
  await page.getByLabel("URL").fill("not-a-place:1");
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await page.getByText(/url/i).first().waitFor();
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByRole("listitem", { name: "Add your own endpoint – done" }).waitFor();
  await send.click();
  await page.getByRole("listitem", { name: "See it delivered – done" }).waitFor();
});

test("the overview leads to the first steps until somebody has published, and whoever may not see them is told", async () => {
  const { server } = await startWithSink();
  const page = await openDashboard(server, "/");
  await page.getByRole("link", { name: "Get started" }).click();
  await page.getByRole("heading", { name: "Getting started" }).waitFor();
  await server.call("POST", "/api/v1/events", { tenant: "demo", type: "order.paid", data: {} });
  await page.getByRole("listitem", { name: "Publish an event – done" }).waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.getByRole("figure").first().waitFor();
  await page.getByText("No event has been published yet.").waitFor({ state: "detached" });

  const { json } = await server.call("POST", "/api/v1/keys", { name: "reader", scopes: ["deliveries:read"] });
  const reader = await openDashboard(server, "/first-run", { key: json.key });
  await reader.getByText("Access denied").waitFor();
});
