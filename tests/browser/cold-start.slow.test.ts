// What the overview waits for when a browser has nothing of it yet. Facts that decide how fast it is, rather than the
// clock of the machine that tests: how many requests there are, and which of them wait for one another.
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";

/** Signed in, and without anything in its cache. */
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

/** Lets none of these through before all of them were asked for: what waits for another's answer never comes. */
async function holdUntilAllAreAsked(page: Page, patterns: readonly RegExp[]): Promise<void> {
  const waiting = new Set(patterns);
  let release = (): void => {};
  const areAsked = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const pattern of patterns) {
    await page.route(
      pattern,
      async (route) => {
        waiting.delete(pattern);
        if (waiting.size === 0) release();
        await areAsked;
        await route.continue();
      },
      { times: 1 },
    );
  }
}

test("the overview's code is loaded while the server is asked who is there", async () => {
  const { page, url } = await openCold();
  await holdUntilAllAreAsked(page, [
    /\/api\/v1\/session$/,
    /\/assets\/overview-/,
    /\/assets\/activity-charts-/,
  ]);
  await page.goto(url);
  await page.getByRole("figure").first().waitFor();
});

test("all that the overview shows is asked for at once, and nothing is asked for twice", async () => {
  const { page, url } = await openCold();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url().replace(url, "")));
  const data = [/\/v1\/activity/, /\/v1\/system/, /\/v1\/stats/, /\/v1\/events/];
  await holdUntilAllAreAsked(page, data);
  await page.goto(url);
  await page.getByRole("figure").first().waitFor();
  const ofApi = asked.filter((path) => path.startsWith("/api/"));
  expect(ofApi.filter((path) => !data.some((pattern) => pattern.test(path)))).toEqual(["/api/v1/session"]);
  expect(new Set(asked).size).toBe(asked.length);
  expect(asked.length).toBeLessThanOrEqual(20);
  // and it does what it is told
  const period = page.getByRole("combobox", { name: "Period" });
  const answered = page.waitForResponse(/\/v1\/activity\?period=day/);
  await period.selectOption("day");
  await answered;
  expect(await period.inputValue()).toBe("day");
});
