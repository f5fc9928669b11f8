// The first load: its size, how many requests there are, and which of them wait for others. Durations are not measured
// because they depend on the machine.
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openDashboard, openPage } from "../support/processes/browser.ts";
import { adminKey, startServer } from "../support/servers/start-server.ts";

/** As the browser receives it, compressed with Brotli. */
const MAX_FIRST_LOAD_BYTES = 200_000;

/** Opens a signed-in page with an empty cache. */
async function openCold(): Promise<{ page: Page; url: string }> {
  const server = await startServer();
  const before = await openDashboard(server, "/verify");
  const context = await before
    .context()
    .browser()
    ?.newContext({
      locale: "en-GB",
      storageState: await before.context().storageState(),
    });
  if (context === undefined) throw new Error("The browser is gone.");
  onTestFinished(() => context.close());
  return { page: await context.newPage(), url: server.url };
}

/** Holds these requests until all of them were sent, so that one that waits for another's response never completes. */
async function holdUntilAllAreSent(page: Page, patterns: readonly RegExp[]): Promise<void> {
  const waiting = new Set(patterns);
  let release = (): void => {};
  const areSent = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const pattern of patterns) {
    await page.route(
      pattern,
      async (route) => {
        waiting.delete(pattern);
        if (waiting.size === 0) release();
        await areSent;
        await route.continue();
      },
      { times: 1 },
    );
  }
}

test("the code of the overview is loaded while the session is requested", async () => {
  const { page, url } = await openCold();
  await holdUntilAllAreSent(page, [
    /\/api\/v1\/session$/,
    /\/assets\/overview-/,
    /\/assets\/activity-charts-/,
  ]);
  await page.goto(url);
  await page.getByRole("figure").first().waitFor();
});

test("the overview requests all its data at once, and nothing twice", async () => {
  const { page, url } = await openCold();
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url().replace(url, "")));
  const data = [/\/v1\/activity/, /\/v1\/system/, /\/v1\/stats/, /\/v1\/events/, /\/v1\/delivery-mode/];
  await holdUntilAllAreSent(page, data);
  await page.goto(url);
  await page.getByRole("figure").first().waitFor();
  const ofApi = requested.filter((path) => path.startsWith("/api/"));
  expect(ofApi.filter((path) => !data.some((pattern) => pattern.test(path)))).toEqual(["/api/v1/session"]);
  expect(new Set(requested).size).toBe(requested.length);
  // two of them are typefaces
  expect(requested.length).toBeLessThanOrEqual(22);
  const period = page.getByRole("combobox", { name: "Period" });
  const response = page.waitForResponse(/\/v1\/activity\?period=day/);
  await period.selectOption("day");
  await response;
  expect(await period.inputValue()).toBe("day");
});

test("the first load is at most 200 KB compressed with its typefaces, and loads nothing from other hosts", async () => {
  const server = await startServer();
  const { page } = await openPage("about:blank");
  const assets: string[] = [];
  const sizes: Promise<number>[] = [];
  const elsewhere: string[] = [];
  page.on("response", (response) => {
    if (!response.url().startsWith(server.url)) elsewhere.push(response.url());
    const [, asset] = /\/assets\/([^?]+)$/.exec(response.url()) ?? [];
    if (asset === undefined) return;
    assets.push(asset);
    const size = response.request().sizes();
    sizes.push(size.then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(server.url);
  await page
    .getByRole("textbox")
    .or(page.getByLabel(/key|Schlüssel/))
    .first()
    .fill(adminKey);
  await page.keyboard.press("Enter");
  await page.getByRole("figure").first().waitFor();
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(assets.filter((asset) => asset.endsWith(".woff2"))).toHaveLength(2);
  expect(total).toBeLessThanOrEqual(MAX_FIRST_LOAD_BYTES);
  expect(elsewhere).toEqual([]);
});
