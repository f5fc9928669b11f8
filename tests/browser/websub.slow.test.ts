// Public topics and WebSub subscriptions in a real browser.
import { expect, onTestFinished, test } from "vitest";
import { expectFitToShow, openDashboard } from "../support/processes/browser.ts";
import { startServer } from "../support/servers/start-server.ts";
import { publicUrl, startSubscriber, topicUrl } from "../support/servers/websub.ts";

test("topics are made public with a warning, and their subscriptions are listed and ended", async () => {
  const subscriber = await startSubscriber();
  onTestFinished(() => subscriber.close());
  const websub = { allowCidrs: ["127.0.0.0/8"] };
  const server = await startServer({ posthorn: { publicUrl, websub } });
  await server.call("PUT", "/api/v1/tenants/acme");
  const page = await openDashboard(server, "/tenants/acme");
  await page.getByText("Public topics need no key").waitFor();
  await page.getByLabel("Public topics").fill("Order Paid");
  const save = page.locator("section", { hasText: "Public topics" }).getByRole("button", { name: "Save" });
  await save.click();
  await expect.poll(() => page.getByLabel("Public topics").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Public topics").fill("order.*");
  await save.click();
  await page.getByText("Saved. These topics are public.").waitFor();
  await page.getByText("No subscriptions").waitFor();

  const form = new URLSearchParams({
    "hub.mode": "subscribe",
    "hub.topic": topicUrl("acme", "order.paid"),
    "hub.callback": `${subscriber.url}/reader`,
  });
  const isForm = { "content-type": "application/x-www-form-urlencoded" };
  await server.visit("POST", "/websub", form.toString(), isForm);
  const subscriptions = async () => (await server.call("GET", "/api/v1/endpoints?state=websub")).json.data;
  await expect.poll(subscriptions).toHaveLength(1);
  const list = page.getByRole("table", { name: "WebSub subscriptions" });
  await page.goto(`${server.url}/endpoints?which=websub`);
  await page.getByText("WebSub", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: `${subscriber.url}/reader` }).click();
  await page.getByText("WebSub subscription", { exact: true }).waitFor();
  await page.getByText("Managed by the subscriber, who may renew it.").waitFor();
  // only the subscriber can change it
  expect(await page.getByRole("button", { name: /Settings|Disable|Secrets|Test/ }).count()).toBe(0);
  await expectFitToShow(page, "subscription");
  await page.goto(`${server.url}/tenants/acme`);
  await list.getByText("order.paid").waitFor();
  await list
    .getByText(/in \d+ days/)
    .last()
    .waitFor();
  await expectFitToShow(page, "tenant-websub");
  await list.getByRole("button", { name: "End" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End" }).click();
  await page.getByText("Subscription ended.").waitFor();
  await page.getByText("No subscriptions").waitFor();
  await subscriber.until("the denial", () =>
    subscriber.asked("/reader").some(({ query }) => query.get("hub.mode") === "denied"),
  );
});
