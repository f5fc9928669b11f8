// The getting-started page in a real browser.
import { expect, test } from "vitest";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { deliverFirstEvent, SINK_ID } from "../../packages/server/src/cli/local/dev-demo.ts";
import { operatorLink } from "../../packages/server/src/cli/local/operator-link.ts";
import { openPage } from "../support/browser.ts";
import { expectFitToShow } from "../support/dashboard.ts";
import { adminKey, startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function startWithSink() {
  const sink = new Sink();
  const server = await startServer({ sink: { sink, readers: "public" } });
  await deliverFirstEvent(server.hooks, sink, `${server.url}/sink/${SINK_ID}`, 10_000);
  return { server, sink };
}

test("the link of a new installation leads to three steps, which are checked as they are done", async () => {
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
