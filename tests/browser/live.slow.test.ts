// Live updates in a real browser: across restarts, in many tabs, and until the session ends.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createPort } from "node:net";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { createHandler } from "../../packages/server/src/api/handler.ts";
import { openPage } from "../support/browser.ts";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { createMigratedDatabase } from "../support/postgres.ts";
import { makeDataDir, posthorn, type Running } from "../support/posthorn-process.ts";
import { adminKey, startServer, type TestServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const isLive = (page: Page) => page.getByRole("status").getByText("live", { exact: true }).waitFor();
const publish = (server: TestServer, type: string) =>
  server.call("POST", "/api/v1/events", { tenant: "acme", type, data: { secret: "hush" } });

async function startWithEndpoint(events: readonly string[] = ["*"]): Promise<TestServer> {
  const receiver = await startStatusReceiver();
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  await server.call("POST", "/api/v1/tenants/acme/endpoints", { url: receiver.url, events });
  return server;
}

/** A server process with a fixed port that can be killed, and a second one that keeps delivering. */
async function startToKill() {
  const receiver = await startStatusReceiver();
  const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
  const database = await createMigratedDatabase();
  const other = await startServer({ database, posthorn: { encryptionKeys } });
  await other.call("PUT", "/api/v1/tenants/acme", {});
  await other.call("POST", "/api/v1/tenants/acme/endpoints", { url: receiver.url, events: ["order.*"] });
  const port = await freePort();
  const folder = makeDataDir();
  const start = async (): Promise<Running> => {
    const running = posthorn(folder, ["serve"], {
      DATABASE_URL: database.connectionString,
      PORT: String(port),
      POSTHORN_ADMIN_KEY: adminKey,
      POSTHORN_ENCRYPTION_KEYS: encryptionKeys,
      POSTHORN_ALLOW_HTTP: "true",
      POSTHORN_ALLOW_CIDRS: "127.0.0.0/8",
    });
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${port}/readyz`).then(
            ({ status }) => status,
            () => 0,
          ),
        {
          timeout: 60_000,
        },
      )
      .toBe(200);
    return running;
  };
  return { other, start, url: `http://127.0.0.1:${port}` };
}

async function freePort(): Promise<number> {
  const server = createPort();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.each([
  ["killed", "SIGKILL"],
  ["stopped", "SIGTERM"],
] as const)(
  "a tail misses nothing and shows nothing twice when its server is %s and starts again",
  async (how, signal) => {
    const { other, start, url } = await startToKill();
    const first = await start();
    const page = await openDashboard({ ...other, url }, "/tail");
    await isLive(page);
    await publish(other, "order.before");
    await rowOf(page, "order.before").getByText("delivered").waitFor();
    first.signal(signal);
    await first.exited;
    await page.getByRole("status").getByText("not connected").waitFor();
    if (how === "killed") await expectFitToShow(page, "tail-lost");
    await publish(other, "order.meanwhile");
    await publish(other, "unwanted.meanwhile");
    await start();
    await isLive(page);
    await rowOf(page, "order.meanwhile").getByText("delivered").waitFor();
    await rowOf(page, "unwanted.meanwhile").getByText("no endpoint").waitFor();
    await publish(other, "order.after");
    await rowOf(page, "order.after").getByText("delivered").waitFor();
    const types = await page.locator("tbody code").allTextContents();
    expect(types.toSorted()).toEqual([
      "order.after",
      "order.before",
      "order.meanwhile",
      "unwanted.meanwhile",
    ]);
  },
);

/** A second HTTP server on the same Posthorn that records requests and counts open streams. */
async function startCounting(server: TestServer) {
  const asked: string[] = [];
  let openStreams = 0;
  const handler = createHandler(server.hooks, { adminKey });
  const http = createServer((request, response) => {
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
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
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
    if (/event: here.*event: here/s.test(text)) break;
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
  for (const path of ["/deliveries", "/events", "/dead-letters", "/deliveries?type=order.second"]) {
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
  // and requests the endpoints of its tenant once
  await rowOf(lists[3] as Page, "order.second")
    .getByText("http")
    .last()
    .waitFor();
  expect(counting.take()).toEqual(["/api/v1/deliveries", "/api/v1/tenants/acme/endpoints"]);
  expect(counting.streams()).toBe(1);

  await first.close();
  await expect.poll(() => counting.take()).toEqual(["/live"]);
  await publish(server, "order.third");
  for (const tail of tails) await rowOf(tail, "order.third").getByText("delivered").waitFor();
  expect(counting.streams()).toBe(1);
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

test("new rows are announced, and the list does not move until they are requested by keyboard", async () => {
  const server = await startWithEndpoint();
  for (const type of ["order.one", "order.two", "order.three"]) await publish(server, type);
  const page = await openDashboard(server, "/deliveries");
  await rowOf(page, "order.three").getByText("delivered").waitFor();
  const codes = page.locator("tbody code");
  const before = await codes.allTextContents();
  const place = await rowOf(page, "order.three").boundingBox();
  await publish(server, "order.four");
  await publish(server, "order.five");
  const pill = page.getByRole("button", { name: "2 new · show" });
  await pill.waitFor();
  expect(await codes.allTextContents()).toEqual(before);
  expect(await rowOf(page, "order.three").boundingBox()).toEqual(place);
  expect(await pill.locator("xpath=ancestor::*[@aria-live='polite']").count()).toBe(1);
  await expectFitToShow(page, "new-rows");
  await pill.focus();
  await page.keyboard.press("Enter");
  await rowOf(page, "order.five").waitFor();
  expect((await codes.allTextContents()).slice(0, 2)).toEqual(["order.five", "order.four"]);
  await expect.poll(() => pill.count()).toBe(0);
});

test("the logs of the portal announce only deliveries of their tenant", async () => {
  const server = await startWithEndpoint();
  const receiver = await startStatusReceiver();
  await server.call("PUT", "/api/v1/tenants/other", {});
  await server.call("POST", "/api/v1/tenants/other/endpoints", { url: receiver.url, events: ["*"] });
  await publish(server, "order.one");
  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const link = new URL(json.url);
  const { page } = await openPage(`${server.url}${link.pathname}${link.hash}`, { locale: "en-GB" });
  await page.getByRole("link", { name: "Logs" }).click();
  await rowOf(page, "order.one").getByText("delivered").waitFor();
  await server.call("POST", "/api/v1/events", { tenant: "other", type: "order.theirs", data: {} });
  await publish(server, "order.two");
  await page.getByRole("button", { name: "1 new · show" }).click();
  await rowOf(page, "order.two").waitFor();
  expect(await rowOf(page, "order.theirs").count()).toBe(0);
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
  await expect.poll(() => counting.streams(), { timeout: 5_000 }).toBe(0);
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
  await expect.poll(() => counting.streams(), { timeout: 5_000 }).toBe(0);
});
