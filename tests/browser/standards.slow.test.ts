// What the standards brought, in a real browser: batches, signatures as others make them, endpoints that are asked first, topics.
import { verify } from "@posthorn/wire";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { expectFitToShow, openDashboard, unfold } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";
import { publicUrl, topicUrl } from "../support/websub/hub.ts";
import { startSubscriber } from "../support/websub/subscriber.ts";
import { withEndpoint } from "../support/with-endpoint.ts";

test("batches are chosen within their bounds, and a delivery lists what is in it", async () => {
  const server = await startServer();
  const { receiver, path } = await withEndpoint(server);
  const page = await openDashboard(server, `${path}?tab=settings`);
  await unfold(page, "Request");
  expect(await page.getByLabel("Maximum events per batch").count()).toBe(0);
  await page.getByLabel("Body").selectOption("cloudevents-batch");
  await page.getByText("CloudEvents are collected and sent as a JSON array").waitFor();
  await page.getByLabel("Maximum events per batch").fill("1001");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/from 1 to 1000|1 to 1000/).waitFor();
  await expectFitToShow(page, "endpoint-batch");
  await page.getByLabel("Maximum events per batch").fill("2");
  await page.getByLabel("Maximum delay in ms").fill("3600000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Applies from the next attempt.").waitFor();
  await page.getByRole("button", { name: "Overview" }).click();
  await page.getByText("At most 2 events or 512 KB, sent at most 1h after the first event.").waitFor();

  const publish = async (data: number) =>
    (await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data })).json.id;
  const first = await publish(1);
  await page.goto(`${server.url}/events/${first}`);
  await page.getByText("Waiting to be sent in a batch.").waitFor();
  const second = await publish(2);
  await receiver.received(1);
  await page.getByText("in a batch:").waitFor();
  await page.getByRole("link", { name: /^dlv_/ }).click();
  await page.getByText("Events in this batch: 2").waitFor();
  const members = page.locator("ol a");
  expect(await members.allTextContents()).toEqual([first, second]);
  await expectFitToShow(page, "delivery-batch");
});

test("an endpoint is made that signs as others do with their secret, and says with which headers", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  await server.call("PUT", "/api/v1/tenants/acme");
  const page = await openDashboard(server, "/tenants/acme");
  await page.getByRole("button", { name: "New endpoint" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill(`${receiver.url}/in`);
  await unfold(page, "Signature");
  await dialog.getByText("Compatible with other services").click();
  await dialog.getByLabel("github", { exact: true }).check();
  await dialog.getByLabel("standard-webhooks", { exact: true }).check();
  await dialog.getByLabel("Secret for github").fill("what GitHub's receivers have");
  await unfold(page, "Token and consent");
  await dialog.getByLabel("Token", { exact: true }).selectOption("bearer");
  await dialog.getByLabel("Token value").fill("not a token");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText(/A token is 1 to 4,096/).waitFor();
  await expectFitToShow(page, "endpoint-new-signature");
  await dialog.getByLabel("Token value").fill("opaque-token");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByText("X-Hub-Signature-256, X-GitHub-Event, X-GitHub-Delivery").waitFor();
  await page.getByText("Set. Sent in the Authorization header.").waitFor();
  await expectFitToShow(page, "endpoint-signature");

  await page.getByRole("button", { name: "Test" }).click();
  await page.getByRole("button", { name: "Send test event" }).click();
  await receiver.received(1);
  const request = receiver.requestsTo("/in")[0];
  const headers = request?.headers as Record<string, string>;
  expect(headers.authorization).toBe("Bearer opaque-token");
  const genuine = await verify({
    scheme: "github",
    headers,
    body: request?.body as Buffer,
    secrets: ["what GitHub's receivers have"],
  });
  expect(genuine).toEqual({ ok: true });

  // the receivers change over: one scheme gets a new secret, the other keeps its own
  await page.getByRole("button", { name: "Secrets" }).click();
  await page.getByText("only for github").waitFor();
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByLabel("Scheme", { exact: true }).selectOption("github");
  await page.getByRole("dialog").getByLabel("Custom secret").fill("another one");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByText("Saved. Used from the next attempt.").waitFor();
  await page.getByText(/Expires in 6d/).waitFor();

  await page.getByRole("button", { name: "Settings" }).click();
  await unfold(page, "Token and consent");
  await page.getByText("A token is set and is not shown. Empty keeps it.").waitFor();
  await page.getByLabel("Token", { exact: true }).selectOption({ label: "none" });
  await page.getByText("The current token will be removed.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Applies from the next attempt.").waitFor();
  // what nobody knows any more cannot be brought back
  expect(await page.getByRole("button", { name: "Undo u" }).count()).toBe(0);
});

test("the private half of a key pair is shown to nobody: receivers are led to the public one", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  const page = await openDashboard(server, "/tenants/acme");
  await page.getByRole("button", { name: "New endpoint" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill("https://hooks.example/in");
  await unfold(page, "Signature");
  await dialog.getByLabel("standard-webhooks-v1a", { exact: true }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("the receiver needs only the public keys").waitFor();
  expect(await dialog.textContent()).not.toContain("whsk_");
  const address = await dialog.getByText(/\.well-known\/webhook-keys\/ep_/).textContent();
  expect((await fetch(address ?? "")).status).toBe(200);
});

test("an event that came as a CloudEvent shows what it brought along, and that its data are bytes", async () => {
  const server = await startServer();
  const { json } = await server.call(
    "POST",
    "/api/v1/events?tenant=acme",
    {
      specversion: "1.0",
      id: "7",
      source: "/shop",
      type: "com.Example.Order-Paid",
      region: "eu",
      datacontenttype: "application/xml",
      data_base64: Buffer.from("<order/>").toString("base64"),
    },
    { "content-type": "application/cloudevents+json" },
  );
  const page = await openDashboard(server, `/events/${json.id}`);
  const title = page.getByRole("heading", { name: "CloudEvent attributes" });
  const brought = page.locator("section").filter({ has: title });
  for (const value of ["7", "/shop", "com.Example.Order-Paid", "eu", "application/xml"])
    await brought.getByText(value, { exact: true }).waitFor();
  await page.getByText("Binary data, shown as base64.").waitFor();
  await page.getByText("The tenant had no endpoint.").waitFor();
});

test("an endpoint that is asked first says what it answered, and is asked again", async () => {
  const server = await startServer();
  const { receiver, path } = await withEndpoint(server);
  receiver.answer("/in", { status: 200, headers: { "WebHook-Allowed-Origin": "other.example" } });
  const page = await openDashboard(server, `${path}?tab=settings`);
  await unfold(page, "Token and consent");
  await page.getByLabel("Require the receiver's consent").check();
  await page.getByLabel("Origin").fill("no name");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("origin is the DNS name that stands for you").waitFor();
  await page.getByLabel("Origin").fill("hooks.example.com");
  await page.getByLabel("Requested rate per minute").fill("600");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Applies from the next attempt.").waitFor();
  await page.getByRole("button", { name: "Overview" }).click();
  await page.getByText("The receiver declined webhooks.").waitFor();
  await page.getByText("Requested for origin hooks.example.com with 600 per minute.").waitFor();
  await expectFitToShow(page, "endpoint-denied");

  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: 1 });
  await page.getByRole("link", { name: "All deliveries" }).click();
  await page.getByText("when the receiver consents").filter({ visible: true }).first().waitFor();
  await page.goBack();
  const granting = { "WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "120" };
  receiver.answer("/in", { status: 200, headers: granting });
  await page.getByRole("button", { name: "Request again" }).click();
  await page.getByText("The receiver consented to at most 120 webhooks per minute.").waitFor();
});

test("topics are opened to everybody with a warning, and who follows them is listed and can be ended", async () => {
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
  await expect
    .poll(async () => (await server.call("GET", "/api/v1/endpoints?state=websub")).json.data, {
      timeout: 20_000,
    })
    .toHaveLength(1);
  const list = page.getByRole("table", { name: "WebSub subscriptions" });
  await page.goto(`${server.url}/endpoints?which=websub`);
  await page.getByText("WebSub", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: `${subscriber.url}/reader` }).click();
  await page.getByText("WebSub subscription", { exact: true }).waitFor();
  await page.getByText("Managed by the subscriber, who may renew it.").waitFor();
  // its subscriber alone changes it
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
