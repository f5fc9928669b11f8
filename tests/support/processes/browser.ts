// A real browser: the system's Chromium, preferably the headless shell, which needs a quarter less processor time. Console
// errors, exceptions and violations of the Content-Security-Policy fail the test that opened the page.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { adminKey, type TestServer } from "../servers/start-server.ts";
import { findProgram, presentProgram } from "./system-programs.ts";

let browser: Promise<Browser> | undefined;

/** Starts one browser per process; it ends with the process. */
function launch(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: findChromium(),
    // a container's shared memory is too small for it, and root has no sandbox
    args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  return browser;
}

const PROGRAMS = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

function findChromium(): string {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && existsSync(given)) return given;
  const found = presentProgram(...PROGRAMS) ?? findProgram("chromium-headless-shell", "chromium");
  if (found !== null) return found;
  throw new Error(
    "The tests of the dashboard need Chromium. Install it (Debian: apt-get install chromium-headless-shell), or set " +
      "CHROMIUM_PATH.",
  );
}

export interface OpenPage {
  readonly page: Page;
  /** Errors so far; the test fails at its end if there are any. */
  readonly complaints: string[];
}

/** Opens a page in a new profile. */
export async function openPage(
  url: string,
  {
    atEnd = onTestFinished,
    ...options
  }: BrowserContextOptions & {
    /** Registers the function that closes the page and checks `complaints`. Default: at the end of the test. */
    readonly atEnd?: (close: () => Promise<void>) => void;
  } = {},
): Promise<OpenPage> {
  const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`threw: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // the browser logs error responses, which the page shows
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) complaints.push(text);
  });
  page.on("dialog", (dialog) => {
    complaints.push(`opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  atEnd(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  return { page, complaints };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The rules for the second theme, which differs only in colours. */
export const COLOURS = ["color-contrast"];

/** Expects that axe finds no accessibility violation. */
export async function expectAccessible(page: Page, where = "", rules?: readonly string[]): Promise<void> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
  const findings = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run(o: object): Promise<{ violations: Finding[] }> } };
    return (await axe.run({ resultTypes: ["violations"], ...(runOnly && { runOnly }) })).violations;
  }, rules);
  const violations = findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  expect([where, ...violations]).toEqual([where]);
}

/** Saves a screenshot if POSTHORN_SCREENSHOTS names a folder. */
export async function screenshot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const folder = process.env.POSTHORN_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}

/** Signs in with the key (default: the admin key) and opens a screen. */
export async function openDashboard(
  server: TestServer,
  path: string,
  { key = adminKey, ...options }: BrowserContextOptions & { readonly key?: string } = {},
): Promise<Page> {
  const { page } = await openPage(server.url + path, { locale: "en-GB", ...options });
  await page.locator("input").first().fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation").first().waitFor();
  return page;
}

/** Expects that the screen is accessible in both themes and fits a phone. */
export async function expectFitToShow(page: Page, name: string): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme);
    await expectAccessible(page, name, theme === "light" ? undefined : COLOURS);
    await screenshot(page, `${name}-${theme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  const wide = page.viewportSize() ?? { width: 1280, height: 800 };
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForFunction(() => document.documentElement.scrollWidth <= 360);
  // lists do not scroll horizontally
  await page.waitForFunction(() =>
    [...document.querySelectorAll("section:has(> table)")].every(
      ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth,
    ),
  );
  await screenshot(page, `${name}-360`);
  await page.setViewportSize(wide);
}
