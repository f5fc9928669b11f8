// Live updates in a real browser: in lists, in many tabs, and until the session ends.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createHandler } from "../../packages/server/src/api/handler.ts";
import { openDashboard } from "../support/processes/browser.ts";
import { listen } from "../support/servers/http.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { adminKey, startServer, type TestServer } from "../support/servers/start-server.ts";

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const isLive = (page: Page) => page.getByRole("status").getByText("live", { exact: true }).waitFor();
const publish = (server: TestServer, type: string) =>
  server.call("POST", "/api/v1/events", { tenant: "acme", type, data: { secret: "hush" } });

async function startWithEndpoint(): Promise<TestServer> {
  const receiver = await startReceiver();
  const server = await startServer();
  await server.newEndpoint({ url: receiver.url }, "acme");
  return server;
}

/** A second HTTP server on the same Posthorn that records requests and counts open streams. */
async function startCounting(server: TestServer) {
  const asked: string[] = [];
  let openStreams = 0;
  const handler = createHandler(server.hooks, { adminKey });
  const url = await listen((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    if (path === "/live") {
      openStreams += 1;
      response.once("close", () => {
        openStreams -= 1;
      });
    }
    if (path === "/live" || path.startsWith("/api/")) asked.push(path);
    handler(request, response);
  });
  return {
    server: { ...server, url },
    streams: () => openStreams,
    /** Returns the requests since the previous call. */
    take: () => asked.splice(0),
  };
}

/** Waits for a heartbeat of the stream, which is many polls later. */
async function nextHeartbeat(server: TestServer): Promise<void> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}/live`, {
    headers: { authorization: `Bearer ${adminKey}` },
    signal: controller.signal,
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array);
    if (/event: heartbeat.*event: heartbeat/s.test(text)) break;
  }
  controller.abort();
}

async function openTab(of: Page, url: string): Promise<Page> {
  const page = await of.context().newPage();
  await page.goto(url);
  await page.getByRole("navigation").first().waitFor();
  return page;
}

test("ten tabs share one stream, and another tab takes over when the reading tab is closed", async () => {
  const server = await startWithEndpoint();
  await publish(server, "order.first");
  const counting = await startCounting(server);
  const first = await openDashboard(counting.server, "/tail");
  await isLive(first);
  const tails = [];
  for (let tab = 0; tab < 5; tab++) tails.push(await openTab(first, `${counting.server.url}/tail`));
  const lists = [];
  for (const path of [
    "/deliveries",
    "/deliveries?tenant=acme",
    "/dead-letters",
    "/deliveries?type=order.second",
  ]) {
    lists.push(await openTab(first, counting.server.url + path));
  }
  for (const tail of tails) await isLive(tail);
  await rowOf(lists[0] as Page, "order.first").waitFor();
  await rowOf(lists[1] as Page, "order.first").waitFor();
  expect(counting.streams()).toBe(1);

  counting.take();
  await nextHeartbeat(server);
  expect(counting.take()).toEqual([]);

  await publish(server, "order.second");
  for (const tail of [first, ...tails]) await rowOf(tail, "order.second").getByText("delivered").waitFor();
  for (const list of lists.slice(0, 2)) await list.getByRole("button", { name: "1 new" }).waitFor();
  // an empty list shows its first row at once
  await rowOf(lists[3] as Page, "order.second").waitFor();
  expect(counting.take()).toEqual(["/api/v1/deliveries"]);
  expect(counting.streams()).toBe(1);

  await first.close();
  await expect.poll(() => counting.take()).toEqual(["/live"]);
  await publish(server, "order.third");
  for (const tail of tails) await rowOf(tail, "order.third").getByText("delivered").waitFor();
  expect(counting.streams()).toBe(1);
});

test("a list does not move when new rows are announced", async () => {
  const server = await startWithEndpoint();
  await publish(server, "order.one");
  const page = await openDashboard(server, "/deliveries");
  const row = rowOf(page, "order.one");
  await row.getByText("delivered").waitFor();
  const place = await row.boundingBox();
  await publish(server, "order.two");
  const announcement = page.getByRole("button", { name: "1 new · show" });
  await announcement.waitFor();
  expect(await row.boundingBox()).toEqual(place);
  await announcement.press("Enter");
  await rowOf(page, "order.two").waitFor();
});

test("a tail shows deliveries that it missed while offline", async () => {
  const server = await startWithEndpoint();
  const page = await openDashboard(server, "/tail");
  await isLive(page);
  await page.context().setOffline(true);
  await publish(server, "order.missed");
  await page.context().setOffline(false);
  await rowOf(page, "order.missed").waitFor({ timeout: 60_000 });
});

test("without Web Locks every visible tab has its own stream", async () => {
  const server = await startWithEndpoint();
  const counting = await startCounting(server);
  const first = await openDashboard(counting.server, "/");
  await first.context().addInitScript(() => {
    Object.defineProperty(navigator, "locks", { value: undefined });
  });
  const tabs = [];
  for (let tab = 0; tab < 3; tab++) tabs.push(await openTab(first, `${counting.server.url}/tail`));
  for (const tab of tabs) await isLive(tab);
  expect(counting.streams()).toBe(3);
  const [hidden, seen] = tabs as [Page, Page];
  const turn = (page: Page, state: string) =>
    page.evaluate((wanted) => {
      Object.defineProperty(document, "visibilityState", { value: wanted, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await turn(hidden, "hidden");
  await expect.poll(() => counting.streams()).toBe(2);
  await publish(server, "order.unseen");
  await rowOf(seen, "order.unseen").getByText("delivered").waitFor();
  await turn(hidden, "visible");
  await rowOf(hidden, "order.unseen").getByText("delivered").waitFor();
  expect(await rowOf(seen, "order.unseen").count()).toBe(1);
});

test("signing out in one tab signs out all tabs and closes the stream", async () => {
  const server = await startWithEndpoint();
  const counting = await startCounting(server);
  const first = await openDashboard(counting.server, "/tail");
  await isLive(first);
  const second = await openTab(first, `${counting.server.url}/tail`);
  await isLive(second);
  await second.getByRole("button", { name: "Sign out" }).click();
  await first.getByLabel("API key", { exact: true }).waitFor();
  await second.getByLabel("API key", { exact: true }).waitFor();
  await expect.poll(() => counting.streams()).toBe(0);
  counting.take();
  await nextHeartbeat(server);
  expect(counting.take()).toEqual([]);
});

test("a tail whose key is revoked shows the sign-in and does not reconnect", async () => {
  const server = await startWithEndpoint();
  const counting = await startCounting(server);
  const { json } = await server.call("POST", "/api/v1/keys", { name: "k", scopes: ["deliveries:read"] });
  const page = await openDashboard(counting.server, "/tail", { key: json.key });
  await isLive(page);
  counting.take();
  await server.call("DELETE", `/api/v1/keys/${json.id}`);
  await page.getByLabel("API key", { exact: true }).waitFor();
  expect(counting.take().filter((path) => path === "/live").length).toBeLessThanOrEqual(1);
  await expect.poll(() => counting.streams()).toBe(0);
});
