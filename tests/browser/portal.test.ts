// A customer in the portal, in a real browser: one tenant, and never more.
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { expectFitToShow } from "../support/dashboard.ts";
import { startServer, type TestServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function portalLink(server: TestServer, tenant: string): Promise<string> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
  const { json } = await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`, {});
  return json.url;
}

test("a customer adds an endpoint, sees why the test failed, mends it and gets the green tick", async () => {
  const receiver = await startStatusReceiver(404, "not here");
  const server = await startServer();
  const { page } = await openPage(await portalLink(server, "acme"), { locale: "en-GB" });
  await page.getByText("You have no endpoint yet").waitFor();
  await expectFitToShow(page, "portal-empty");
  await page.getByRole("link", { name: "Add endpoint" }).first().click();
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("button", { name: "Add it" }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("There is nothing at the endpoint's path").waitFor();
  await expectFitToShow(page, "portal-add");
  receiver.answer.status = 200;
  await page.getByRole("button", { name: "Send another one" }).click();
  await page.getByText("It arrived. You are set up.").waitFor();
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByRole("row").filter({ hasText: "webhook.test" }).first().waitFor();
  await expectFitToShow(page, "portal-logs");
});

test("a link works once, and its session sees nothing of another tenant by any address", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/other", {});
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/other/endpoints", {
    url: receiver.url,
    events: ["*"],
  });
  await server.call("POST", "/api/v1/events", { tenant: "other", type: "secret.plan", data: {} });
  const { json: deliveries } = await server.call("GET", "/api/v1/deliveries");
  const link = await portalLink(server, "acme");
  const { page } = await openPage(link, { locale: "en-GB" });
  await page.getByText("You have no endpoint yet").waitFor();
  const addresses = [
    `/portal/deliveries/${deliveries.data[0].id}`,
    `/portal/endpoints/${endpoint.id}`,
    "/portal/logs?tenant=other",
  ];
  for (const address of addresses) {
    await page.goto(server.url + address);
    await page
      .getByText(/There is no such thing here|Nothing has been sent to you yet/)
      .first()
      .waitFor();
    expect(await page.content()).not.toContain("secret.plan");
  }
  const asked = await page.evaluate(async () => {
    const paths = [
      "/api/v1/tenants",
      "/api/v1/tenants/other",
      "/api/v1/keys",
      "/api/v1/deliveries?tenant=other",
      "/api/v1/system",
    ];
    const headers = { "posthorn-dashboard": "portal" };
    return await Promise.all(paths.map(async (path) => (await fetch(path, { headers })).status));
  });
  expect(asked.every((status) => status === 403 || status === 404)).toBe(true);
  const { page: second } = await openPage(link, { locale: "en-GB" });
  await second.getByText("This link has been used or is too old").waitFor();
  await expectFitToShow(second, "portal-used");
});

test("a request that was pasted is verified in the browser, and the secret goes nowhere", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  const link = await portalLink(server, "acme");
  const { json: made } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: receiver.url,
    events: ["*"],
  });
  await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.paid",
    data: { note: "Grüße" },
  });
  await expect.poll(() => receiver.requests.length).toBe(1);
  const { headers, body } = receiver.requests[0] ?? { headers: {}, body: "" };
  const text = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  const { page } = await openPage(link, { locale: "en-GB" });
  await page.getByRole("link", { name: "Verify a request" }).click();
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url() + (request.postData() ?? "")));
  await page.getByLabel("The request").fill(`${text}\n\n${body}`);
  await page.getByLabel("Secret").fill(made.secret);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("t-v1: It is genuine").waitFor();
  await page.getByLabel("The request").fill(`${text}\n\n${body} `);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("t-v1: It is refused").waitFor();
  await page.getByLabel("Code in").selectOption("Go");
  await page.getByText("func IsAuthentic").waitFor();
  await expectFitToShow(page, "portal-verify");
  expect(sent.filter((request) => request.includes(made.secret))).toEqual([]);
});
