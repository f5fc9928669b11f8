// The portal inside of somebody's application, in a real browser that refuses cookies of other sites: the example's page
// on an origin of its own, the portal on another.
import { readFileSync } from "node:fs";
import type { Frame, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, openPage, screenshot } from "../support/browser.ts";
import { type HostPage, startHostPage, startTlsProxy } from "../support/host-page.ts";
import { startServer, type TestServer } from "../support/start-server.ts";

const html = readFileSync(new URL("../../examples/portal-frame.html", import.meta.url), "utf8");

interface Embedded {
  readonly server: TestServer;
  readonly host: HostPage;
  readonly page: Page;
  readonly frame: Frame;
  readonly complaints: string[];
}

/** The page asks for its link, and shows it; `isAllowed`: whether the server was told of that page. */
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
  await refuseCookiesOfOtherSites(page);
  await page.goto(host.origin);
  const frame = (await (await page.waitForSelector("iframe")).contentFrame()) as Frame;
  if (waitsFor !== "") await frame.getByText(waitsFor).first().waitFor();
  return { server, host, page, frame, complaints };
}

/** As many browsers do; for all tests here. */
async function refuseCookiesOfOtherSites(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Network.enable");
  await devTools.send("Network.setCookieControls", { enableThirdPartyCookieRestriction: true });
}

test("over https it works in a page of another site, although cookies of other sites are refused", async () => {
  const { page, frame, host } = await embed();
  await frame.getByRole("link", { name: "Logs" }).click();
  await frame.getByText("No deliveries yet").waitFor();
  const cookies = await page.context().cookies();
  expect(cookies.map(({ name, sameSite, partitionKey }) => ({ name, sameSite, partitionKey }))).toEqual([
    { name: "__Host-posthorn-portal", sameSite: "None", partitionKey: "https://localhost" },
  ]);
  // that they are refused is no matter of course: one that is not kept apart does not come back
  const kept = await frame.evaluate(() => {
    const text = "SameSite=None; Secure";
    for (const cookie of [`shared=1; ${text}`, `apart=1; ${text}; Partitioned`]) {
      // biome-ignore lint/suspicious/noDocumentCookie: what a page does with one is the question
      document.cookie = cookie;
    }
    return document.cookie;
  });
  expect(kept).toBe("apart=1");
  expect(host.links).toHaveLength(1);
});

test("the frame is as tall as what is in it, and a dialog opens where it can be seen", async () => {
  const { page, frame } = await embed();
  await expectNoScrollInside(frame);
  const smallPx = await heightOf(page);
  await frame.getByRole("link", { name: "How deliveries work" }).click();
  await expect.poll(() => heightOf(page)).toBeGreaterThan(smallPx + 200);
  await expectNoScrollInside(frame);
  await frame.getByRole("link", { name: "Replays", exact: true }).click();
  await expect.poll(() => heightOf(page)).toBeLessThan(smallPx + 100);
  // far down, where somebody has scrolled to in the page around: the frame begins above what can be seen
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
  // a wheel above the frame moves the page around it
  await page.mouse.move(200, 250);
  const before = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 200);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(before);
});

test("when the session ends the page around is told, and opens a new link in the same frame", async () => {
  const { server, page, frame, host } = await embed();
  // a screen that looks again by itself, and so notices
  await frame.getByRole("link", { name: "Replays", exact: true }).click();
  const { status } = await server.call("DELETE", `/api/v1/tenants/acme/portal-links/${host.links[0]}`);
  expect(status).toBe(204);
  await expect.poll(() => host.links.length, { timeout: 10_000 }).toBe(2);
  await frame.getByText("No endpoints yet").waitFor();
  // the page is there already, and only what stands behind the # changes
  await server.call("PUT", "/api/v1/tenants/other", {});
  await server.call("POST", "/api/v1/tenants/other/endpoints", {
    url: "http://127.0.0.1:4999/of-another",
    events: ["*"],
  });
  const { json } = await server.call("POST", "/api/v1/tenants/other/portal-links", {});
  await page.locator("iframe").evaluate((element, url) => element.setAttribute("src", url), json.url);
  await frame.getByText("http://127.0.0.1:4999/of-another").waitFor();
});

test("without an application that listens, whoever stays too long is told what to do", async () => {
  const { server, frame, host } = await embed({
    content: html.replace("&& isSignedIn) open()", "&& false) open()"),
  });
  await frame.getByRole("link", { name: "Replays", exact: true }).click();
  await server.call("DELETE", `/api/v1/tenants/acme/portal-links/${host.links[0]}`);
  await frame.getByText("Your session has ended").waitFor();
  await frame.getByText("Reload the surrounding page to get a new link.").waitFor();
  expect(host.links).toHaveLength(1);
});

test("a page that was not allowed shows nothing of it", async () => {
  const { page, frame, complaints } = await embed({ isAllowed: false, waitsFor: "" });
  await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
  await expect.poll(() => complaints.splice(0)).toEqual([expect.stringContaining("frame-ancestors")]);
  expect(await frame.locator("#root").count()).toBe(0);
});

test("over http it works in a page of the same host", async () => {
  const { frame } = await embed({ scheme: "http", hostname: "127.0.0.1" });
  await frame.getByRole("link", { name: "Logs" }).click();
  await frame.getByText("No deliveries yet").waitFor();
});

test("over http in a page of another host it says why it cannot, and no link is made in vain", async () => {
  const { frame, host } = await embed({
    scheme: "http",
    hostname: "app.localhost",
    waitsFor: "Your browser blocked the session cookie",
  });
  await expectAccessible(frame.page());
  expect(host.links).toHaveLength(1);
  expect(await frame.locator("nav").count()).toBe(0);
});

test("in a sandbox, and where nothing may be kept, it works all the same", async () => {
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
