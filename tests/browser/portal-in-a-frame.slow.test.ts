// The portal in a frame of another site's page (examples/portal-frame.html), in a real browser that blocks third-party
// cookies.
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Frame, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { expectAccessible, openPage, screenshot } from "../support/processes/browser.ts";
import { certificates } from "../support/samples/certificates.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";

const html = readFileSync(new URL("../../examples/portal-frame.html", import.meta.url), "utf8");

interface Embedded {
  readonly server: TestServer;
  readonly host: Awaited<ReturnType<typeof startHostPage>>;
  readonly page: Page;
  readonly frame: Frame;
  readonly complaints: string[];
}

/** Opens the host page, which requests a portal link and shows it. `isAllowed`: the server allows the page's origin. */
async function embed({
  scheme = "https" as "http" | "https",
  hostname = "localhost",
  isAllowed = true,
  isStorageBlocked = false,
  content = html,
  waitsFor = "No endpoints yet",
} = {}): Promise<Embedded> {
  let server: TestServer | undefined;
  const host = await startHostPage({
    scheme,
    hostname,
    html: content,
    makeLink: async () => (await server?.call("POST", "/api/v1/tenants/acme/portal-links", {}))?.json,
  });
  const proxy = scheme === "https" ? await startTlsProxy() : null;
  server = await startServer({
    ...(proxy && { publicUrl: proxy.url }),
    portal: { origins: [isAllowed ? host.origin : "https://elsewhere.example"] },
  });
  proxy?.leadTo(server.url);
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const { page, complaints } = await openPage("about:blank", { locale: "en-GB", ignoreHTTPSErrors: true });
  if (isStorageBlocked) {
    await page.addInitScript(() => {
      const refuse = (): never => {
        throw new DOMException("Storage is not allowed here.", "SecurityError");
      };
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(window, name, { get: refuse });
      }
    });
  }
  await blockThirdPartyCookies(page);
  await page.goto(host.origin);
  const frame = (await (await page.waitForSelector("iframe")).contentFrame()) as Frame;
  if (waitsFor !== "") await frame.getByText(waitsFor).first().waitFor();
  return { server, host, page, frame, complaints };
}

async function blockThirdPartyCookies(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Network.enable");
  await devTools.send("Network.setCookieControls", { enableThirdPartyCookieRestriction: true });
}

test("over https the portal works on another site although third-party cookies are blocked", async () => {
  const { page, frame, host } = await embed();
  await frame.getByRole("link", { name: "Logs" }).click();
  await frame.getByText("No deliveries yet").waitFor();
  const cookies = await page.context().cookies();
  expect(cookies.map(({ name, sameSite, partitionKey }) => ({ name, sameSite, partitionKey }))).toEqual([
    { name: "__Host-posthorn-portal", sameSite: "None", partitionKey: "https://localhost" },
  ]);
  // proves that they are blocked: only a partitioned cookie is kept
  const kept = await frame.evaluate(() => {
    const text = "SameSite=None; Secure";
    for (const cookie of [`shared=1; ${text}`, `apart=1; ${text}; Partitioned`]) {
      // biome-ignore lint/suspicious/noDocumentCookie: the test is about cookies
      document.cookie = cookie;
    }
    return document.cookie;
  });
  expect(kept).toBe("apart=1");
  expect(host.links).toHaveLength(1);
});

test("the frame is as tall as its content up to a limit, and a dialog opens in the visible part", async () => {
  const { page, frame } = await embed();
  await expectNoScrollInside(frame);
  const smallPx = await heightOf(page);
  await frame.getByRole("link", { name: "How deliveries work" }).click();
  // a page that is longer than any frame scrolls inside
  await expect.poll(() => heightOf(page)).toBe(2_000);
  await frame.getByRole("link", { name: "Verify signature" }).click();
  await expect.poll(() => heightOf(page)).toBeLessThan(2_000);
  await expectNoScrollInside(frame);
  await frame.getByRole("link", { name: "Replays", exact: true }).click();
  await expect.poll(() => heightOf(page)).toBeLessThan(smallPx + 100);
  // the host page is scrolled down, so the frame begins above the visible part
  await page.setViewportSize({ width: 400, height: 500 });
  await page.evaluate(() => document.body.style.setProperty("padding-bottom", "100vh"));
  await frame.getByRole("button", { name: "New replay" }).click();
  const dialog = frame.getByRole("dialog");
  await dialog.waitFor();
  await expect.poll(() => heightOf(page)).toBeGreaterThanOrEqual(640);
  await expect.poll(async () => await isInView(page, await dialog.boundingBox())).toBe(true);
  await expectAccessible(page);
  await screenshot(page, "frame-dialog");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => heightOf(page)).toBeLessThan(640);
  // the mouse wheel over the frame scrolls the host page
  await page.mouse.move(200, 250);
  const before = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 200);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(before);
});

test("the host page is notified when the session ends and opens a new link in the same frame", async () => {
  const { server, page, frame, host } = await embed();
  // this screen polls
  await frame.getByRole("link", { name: "Replays", exact: true }).click();
  const { status } = await server.call("DELETE", `/api/v1/tenants/acme/portal-links/${host.links[0]}`);
  expect(status).toBe(204);
  await expect.poll(() => host.links.length).toBe(2);
  await frame.getByText("No endpoints yet").waitFor();
  // only the fragment of the URL changes
  await server.newEndpoint({ url: "http://127.0.0.1:4999/of-another" }, "other");
  const { json } = await server.call("POST", "/api/v1/tenants/other/portal-links", {});
  await page.locator("iframe").evaluate((element, url) => element.setAttribute("src", url), json.url);
  await frame.getByText("http://127.0.0.1:4999/of-another").waitFor();
});

test("if the host page does not react, the portal explains what to do when the session ends", async () => {
  const { server, frame, host } = await embed({
    content: html.replace("&& isSignedIn) open()", "&& false) open()"),
  });
  await frame.getByRole("link", { name: "Replays", exact: true }).click();
  await server.call("DELETE", `/api/v1/tenants/acme/portal-links/${host.links[0]}`);
  await frame.getByText("Your session has ended").waitFor();
  await frame.getByText("Reload the surrounding page to get a new link.").waitFor();
  expect(host.links).toHaveLength(1);
});

test("a page whose origin is not allowed cannot show the portal", async () => {
  const { page, frame, complaints } = await embed({ isAllowed: false, waitsFor: "" });
  await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
  await expect.poll(() => complaints.splice(0)).toEqual([expect.stringContaining("frame-ancestors")]);
  expect(await frame.locator("#root").count()).toBe(0);
});

test("over http the portal works on a page of the same host", async () => {
  const { frame } = await embed({ scheme: "http", hostname: "127.0.0.1" });
  await frame.getByRole("link", { name: "Logs" }).click();
  await frame.getByText("No deliveries yet").waitFor();
});

test("over http on another host the portal explains why it does not work, and uses one link", async () => {
  const { frame, host } = await embed({
    scheme: "http",
    hostname: "app.localhost",
    waitsFor: "Your browser blocked the session cookie",
  });
  await expectAccessible(frame.page());
  expect(host.links).toHaveLength(1);
  expect(await frame.locator("nav").count()).toBe(0);
});

test("the portal works in a sandboxed frame and without storage", async () => {
  const sandboxed = html.replace(
    "<iframe ",
    '<iframe sandbox="allow-scripts allow-forms allow-same-origin" ',
  );
  const { frame } = await embed({ content: sandboxed, isStorageBlocked: true });
  expect(
    await frame.evaluate(() => "localStorage" in window && !window.localStorage).catch(String),
  ).toContain("not allowed");
  await frame.getByRole("link", { name: "Logs" }).click();
  await frame.getByText("No deliveries yet").waitFor();
  await frame.getByRole("link", { name: "Endpoints" }).click();
  await frame.getByLabel("Language").selectOption("de");
  await frame.getByText("Noch keine Endpunkte").waitFor();
});

async function heightOf(page: Page): Promise<number> {
  return (await page.locator("iframe").boundingBox())?.height ?? 0;
}

async function expectNoScrollInside(frame: Frame): Promise<void> {
  await frame.waitForFunction(() => {
    const { scrollHeight, clientHeight } = document.documentElement;
    return scrollHeight <= clientHeight;
  });
}

async function isInView(
  page: Page,
  box: { readonly y: number; readonly height: number } | null,
): Promise<boolean> {
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

/** Not trusted; pages are opened with `ignoreHTTPSErrors`. */
const tls = { key: certificates.key, cert: certificates.valid };

/** An application that shows the portal in a frame. `makeLink` is called on `POST /portal-link`, as in the example. */
async function startHostPage(options: {
  readonly scheme: "http" | "https";
  readonly hostname: string;
  readonly html: string;
  readonly makeLink: () => Promise<{ readonly id: string; readonly url: string }>;
}) {
  const links: string[] = [];
  const port = await listen(options.scheme, async ({ method }, response) => {
    if (method !== "POST") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(options.html);
      return;
    }
    const { id, url } = await options.makeLink();
    links.push(id);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ url }));
  });
  return { origin: `${options.scheme}://${options.hostname}:${port}`, links };
}

/** Starts before its server, which needs to know its public URL. */
async function startTlsProxy(): Promise<{ readonly url: string; leadTo(server: string): void }> {
  let target: URL | null = null;
  const port = await listen("https", (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onwards = request({ host: "127.0.0.1", port: target?.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onwards.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onwards.destroy());
    incoming.pipe(onwards);
  });
  return {
    url: `https://127.0.0.1:${port}`,
    leadTo: (server) => {
      target = new URL(server);
    },
  };
}

async function listen(scheme: "http" | "https", listener: RequestListener): Promise<number> {
  const server = scheme === "http" ? createHttpServer(listener) : createHttpsServer(tls, listener);
  // localhost may resolve to ::1
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}
