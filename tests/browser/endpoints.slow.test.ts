// Endpoints in a real browser: found among all, changed over to a new secret, tried, tested, switched off and on.
import { verify } from "@posthorn/wire";
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard, unfold } from "../support/dashboard.ts";
import { holdBack } from "../support/hold-back.ts";
import { startServer } from "../support/start-server.ts";
import { withEndpoint } from "../support/with-endpoint.ts";

test("the list of all endpoints finds those that fail, and says why", async () => {
  const server = await startServer();
  const { receiver } = await withEndpoint(server);
  const broken = await withEndpoint(server);
  broken.receiver.answer("/in", 500);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: 1 });
  await receiver.received(1);
  const page = await openDashboard(server, "/endpoints");
  const rows = page.getByRole("table", { name: "Endpoints" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByLabel("State").selectOption("failing");
  await expect.poll(() => rows.count()).toBe(1);
  expect(page.url()).toContain("which=failing");
  expect(await rows.first().textContent()).toContain("HTTP 500");
  await expectFitToShow(page, "endpoints");
  await rows
    .first()
    .getByRole("link", { name: /127\.0\.0\.1/ })
    .click();
  await page.getByRole("note").getByText("The last attempt failed.").waitFor();
  await expectFitToShow(page, "endpoint");
});

test("a secret is rotated, both signatures arrive, and the old one is ended early", async () => {
  const server = await startServer();
  const {
    receiver,
    path,
    secret: old,
  } = await withEndpoint(server, {
    signature: { schemes: ["standard-webhooks"] },
  });
  const page = await openDashboard(server, `${path}?tab=secrets`);
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByLabel("Keep the old secret for").selectOption("3600");
  await expectFitToShow(page, "endpoint-rotate");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  const fresh = String(await page.getByRole("dialog").locator("code").textContent());
  expect(fresh).toMatch(/^whsec_/);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByText(/Expires in 59m/).waitFor();
  await expectFitToShow(page, "endpoint-secrets");

  const send = async (count: number) => {
    await server.call("POST", `/api/v1${path}/test`);
    await receiver.received(count);
    const request = receiver.requestsTo("/in")[count - 1];
    const headers = request?.headers as Record<string, string>;
    const signatures = String(headers["webhook-signature"]).split(" ");
    const isBy = async (secret: string) =>
      (
        await verify({
          scheme: "standard-webhooks",
          headers,
          body: request?.body as Buffer,
          secrets: [secret],
        })
      ).ok;
    return { signatures: signatures.length, byOld: await isBy(old), byFresh: await isBy(fresh) };
  };
  expect(await send(1)).toEqual({ signatures: 2, byOld: true, byFresh: true });
  await page.getByRole("button", { name: "Revoke" }).click();
  await page
    .getByRole("dialog")
    .getByLabel(/Type .* to confirm/)
    .fill(new URL(receiver.url).host);
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Secret revoked.").waitFor();
  expect(await send(2)).toEqual({ signatures: 1, byOld: false, byFresh: true });
});

test("a filter is tried with an example of the catalogue before it is saved, and a wrong one is refused at its place", async () => {
  const server = await startServer({ started: false });
  const { id, path } = await withEndpoint(server);
  await server.call("PUT", "/api/v1/event-types/order.paid", { example: { amount: 50 } });
  const page = await openDashboard(server, `${path}?tab=filter`);
  await page.getByRole("textbox", { name: "Filter" }).fill('{"data":{"amount":{"$gte":100}}}');
  await page.getByLabel("Use an example from the catalogue").selectOption("order.paid");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("This event does not match.").waitFor();
  await page.getByText("The filter condition at /data/amount/$gte did not match.").waitFor();
  await page.getByRole("textbox", { name: "Data" }).fill('{"amount":150}');
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("This event matches.").waitFor();
  await expectFitToShow(page, "endpoint-filter");
  await page.getByRole("textbox", { name: "Filter" }).fill('{"data":{"amount":{"$gt3":100}}}');
  await page.getByRole("button", { name: "Save" }).click();
  await expect
    .poll(() => page.getByRole("textbox", { name: "Filter" }).getAttribute("aria-invalid"))
    .toBe("true");
  await page.getByRole("textbox", { name: "Filter" }).fill('{"data":{"amount":{"$gte":100}}}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. The filter applies to new events.").waitFor();
  const { json } = await server.call("GET", `/api/v1/tenants/acme/endpoints/${id}`);
  expect(json.filter).toEqual({ data: { amount: { $gte: 100 } } });
});

test("a test event is edited, sent, and its end is seen as it comes", async () => {
  const server = await startServer();
  const { receiver, path } = await withEndpoint(server);
  receiver.answer("/in", { status: 200, body: Buffer.from("thank you <b>so</b> much") });
  const page = await openDashboard(server, `${path}?tab=test`);
  await page.getByLabel("Event type").fill("Order.Paid");
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText(/lower-case words joined by dots/).waitFor();
  await page.getByLabel("Event type").fill("order.paid");
  await page.getByLabel("Subject").fill("order-7");
  await page.getByRole("textbox", { name: "Data" }).fill('{"amount":5}');
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("thank you <b>so</b> much").waitFor();
  await expectFitToShow(page, "endpoint-test");
  const body = JSON.parse(String(receiver.requestsTo("/in")[0]?.body));
  expect(body).toMatchObject({ type: "order.paid", subject: "order-7", data: { amount: 5 } });
});

test("what becomes of a test event is seen where nothing can be streamed, too", async () => {
  const server = await startServer();
  const { receiver, path } = await withEndpoint(server);
  const page = await openDashboard(server, `${path}?tab=test`);
  await page.route("**/live", (route) => route.abort());
  await page.reload();
  // the first look at it is too early
  const seen = page.getByText("in flight", { exact: true }).waitFor();
  receiver.answer("/in", { until: seen, body: "thank you" });
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("thank you").waitFor();
});

test("settings are changed one by one, and what is wrong is told at its field", async () => {
  const server = await startServer({ started: false });
  const { id, path } = await withEndpoint(server);
  const page = await openDashboard(server, `${path}?tab=settings`);
  const save = page.getByRole("button", { name: "Save" });
  expect(await save.getAttribute("aria-disabled")).toBe("true");
  await unfold(page, "Limits");
  await page.getByLabel("Timeout in ms").fill("99");
  await page.getByLabel("Event types").fill("order.paid\ninvoice.*");
  await unfold(page, "Request");
  await page.getByLabel("Custom headers").fill("X-Team: billing");
  await save.click();
  await expect.poll(() => page.getByLabel("Timeout in ms").getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByLabel("Event types").getAttribute("aria-invalid")).toBeNull();
  await expectFitToShow(page, "endpoint-settings");
  await page.getByLabel("Timeout in ms").fill("2500");
  // what somebody else changes meanwhile is shown, and not taken back
  await server.call("PATCH", `/api/v1/tenants/acme/endpoints/${id}`, { description: "theirs" });
  await page.getByText("theirs").waitFor();
  await save.click();
  await page.getByText("Saved. Applies from the next attempt.").waitFor();
  const { json } = await server.call("GET", `/api/v1/tenants/acme/endpoints/${id}`);
  expect(json).toMatchObject({
    description: "theirs",
    timeout_ms: 2_500,
    events: ["order.paid", "invoice.*"],
    headers: { "X-Team": "billing" },
  });
});

test("a disabled endpoint says how many wait, and is enabled with or without them", async () => {
  const server = await startServer();
  const { receiver, path } = await withEndpoint(server);
  const page = await openDashboard(server, path);
  await page.getByRole("button", { name: "Disable" }).click();
  // what is read again after a change takes its time, and does not disturb whoever goes on meanwhile
  const { release } = await holdBack(page, "reads");
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("Disabled manually. Deliveries are kept.").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  for (const data of [1, 2, 3])
    await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data });
  await page.getByRole("button", { name: "Enable" }).click();
  release();
  await page.getByText("Backlog: 3 deliveries.").waitFor();
  await expectFitToShow(page, "endpoint-enable");
  await page.getByRole("radio", { name: /Discard the backlog/ }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
  await page.getByText("Endpoint enabled.").waitFor();
  expect(receiver.requestsTo("/in")).toEqual([]);
  const dead = await server.call("GET", "/api/v1/deliveries?state=dead&reason=discarded");
  expect(dead.json.data).toHaveLength(3);
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  const remove = dialog.getByRole("button", { name: "Delete" });
  expect(await remove.getAttribute("aria-disabled")).toBe("true");
  await dialog.getByLabel(/Type .* to confirm/).fill(new URL(receiver.url).host);
  await remove.click();
  await page.getByText("No endpoints yet").waitFor();
});
