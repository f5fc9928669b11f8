// The portal in a real browser: a customer sees one tenant only.
import { contract } from "@posthorn/client";
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { expectFitToShow } from "../support/dashboard.ts";
import { show, viewsOf } from "../support/screens.ts";
import { startServer, type TestServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

async function portalLink(server: TestServer, tenant: string): Promise<string> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`, {});
  const { json } = await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`, {});
  return json.url;
}

test("a customer adds an endpoint, sees why the test failed, and succeeds after fixing it", async () => {
  const receiver = await startStatusReceiver(404, "not here");
  const server = await startServer();
  await server.call("PUT", "/api/v1/event-types/order.paid", {});
  const { page } = await openPage(await portalLink(server, "acme"), { locale: "en-GB" });
  await page.getByText("No endpoints yet").waitFor();
  await expectFitToShow(page, "portal-empty");
  await page.getByRole("link", { name: "Add endpoint" }).first().click();
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByLabel("order.paid").check();
  expect(await page.getByLabel("All event types").isChecked()).toBe(false);
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("The receiver returned HTTP 404").waitFor();
  await expectFitToShow(page, "portal-add");
  receiver.answer.status = 200;
  await page.getByRole("button", { name: "Send another test event" }).click();
  await page.getByText("Delivered. Your endpoint is set up.").waitFor();
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByLabel("Endpoint").selectOption({ label: receiver.url });
  await page
    .getByRole("row")
    .filter({ hasText: "webhook.test" })
    .filter({ hasText: receiver.url })
    .first()
    .waitFor();
  await expectFitToShow(page, "portal-logs");
});

test("a link works once, and no URL shows its session another tenant's data", async () => {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/other", { name: "classified name" });
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/other/endpoints", {
    url: `${receiver.url}classified`,
    events: ["*"],
  });
  const publish = (tenant: string, type: string) =>
    server.call("POST", "/api/v1/events", { tenant, type, data: { classified: true } });
  const { json: event } = await publish("other", "classified.plan");
  const { json: deliveries } = await server.call("GET", "/api/v1/deliveries");
  const { json: replay } = await server.call("POST", "/api/v1/replays", { tenant: "other" });
  const ids = {
    tenant: "other",
    event: event.id,
    delivery: deliveries.data[0].id,
    endpoint: endpoint.id,
    replay: replay.id,
  };
  const link = await portalLink(server, "acme");
  const { page } = await openPage(link, { locale: "en-GB" });
  await page.getByText("No endpoints yet").waitFor();

  // every screen of the portal with ids of the other tenant; the dashboard shows its sign-in
  const leaked: string[] = [];
  page.on("response", async (response) => {
    const text = await response.text().catch(() => "");
    if (/\/api\//.test(response.url()) && text.includes("classified")) leaked.push(response.url());
  });
  for (const { path } of viewsOf("portal", ids)) {
    const address = `${path}${path.includes("?") ? "&" : "?"}tenant=other`;
    await show(page, server.url + address);
    expect([address, (await page.content()).includes("classified")]).toEqual([address, false]);
  }
  for (const { path } of viewsOf("operator", ids).slice(0, 6)) {
    await page.goto(server.url + path);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  }
  expect(leaked).toEqual([]);

  // every GET operation of the API, with the cookie of the portal
  const paths = Object.values(contract)
    .flatMap((operations) => Object.values(operations))
    .filter(({ method }) => method === "GET")
    .flatMap(({ path }) => {
      const url = path.replaceAll(
        /\{(\w+)\}/g,
        (_: string, name: string) => ids[name as "tenant"] ?? "no.such",
      );
      return [url, `${url}?tenant=other`];
    });
  await page.goto(`${server.url}/portal`);
  await page.getByText("No endpoints yet").waitFor();
  const answers = await page.evaluate(async (urls) => {
    const headers = { "posthorn-dashboard": "portal" };
    return await Promise.all(
      urls.map(async (path) => [path, await (await fetch(path, { headers })).text()] as const),
    );
  }, paths);
  expect(paths.length).toBeGreaterThan(40);
  // an error repeats the requested path
  const leaks = answers.filter(([path, text]) =>
    text.replaceAll(path.split("?")[0] ?? "", "").includes("classified"),
  );
  expect(leaks).toEqual([]);

  // the live stream contains only changes of the own tenant
  await server.call("POST", "/api/v1/tenants/acme/endpoints", { url: receiver.url, events: ["*"] });
  const live = page.evaluate(async () => {
    const response = await fetch("/live", {
      headers: { "posthorn-dashboard": "portal", accept: "text/event-stream" },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    document.title = "listening";
    let text = "";
    while (reader && !text.includes("own.plan")) text += (await reader.read()).value ?? "";
    await reader?.cancel();
    return text;
  });
  await page.waitForFunction(() => document.title === "listening");
  await publish("other", "classified.news");
  await publish("acme", "own.plan");
  const feed = await live;
  expect(feed).toContain("own.plan");
  expect(feed).not.toContain("classified");

  const { page: second } = await openPage(link, { locale: "en-GB" });
  await second.getByText("This link has expired or was already used").waitFor();
  await expectFitToShow(second, "portal-used");
});
