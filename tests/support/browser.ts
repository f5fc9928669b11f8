// A real browser for a test: the system's Chromium, best without its own window (a quarter less processor time). Whatever a page says on its console, throws, or is refused by its
// Content-Security-Policy fails the test that opened it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { installPackage } from "./system-package.ts";

let browser: Promise<Browser> | undefined;

/** One for all tests of a file; it ends with the process. */
function launch(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: findChromium(),
    // a container's shared memory is too small for it, and root has no sandbox
    args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  return browser;
}

function findChromium(): string {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && existsSync(given)) return given;
  const found = onPath() ?? installed();
  if (found !== null) return found;
  throw new Error(
    "The tests of the dashboard need Chromium. Install it (Debian: apt-get install chromium-headless-shell), or set " +
      "CHROMIUM_PATH.",
  );
}

/** Debian has the one without a window since 2024. */
function installed(): string | null {
  return ["chromium-headless-shell", "chromium"].some(installPackage) ? onPath() : null;
}

const PROGRAMS = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

function onPath(): string | null {
  for (const name of PROGRAMS) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // the next name
    }
  }
  return null;
}

export interface OpenPage {
  readonly page: Page;
  /** What it complained about so far; the test fails at its end when this is not empty. */
  readonly complaints: string[];
}

/** In a profile of its own: no cookies, nothing kept. */
export async function openPage(
  url: string,
  {
    atEnd = onTestFinished,
    ...options
  }: BrowserContextOptions & {
    /** When it is closed, and has to have no complaint. Default: when the test has ended. */
    readonly atEnd?: (close: () => Promise<void>) => void;
  } = {},
): Promise<OpenPage> {
  const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`threw: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // a request that was refused is for the screen to tell; the browser tells it on the console as well
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

/** Themes differ by colours alone: what else there is to find was found in the other one. */
export const COLOURS = ["color-contrast"];

/** Nothing that axe knows of is in the way of people who cannot see, point or tell colours apart. */
export async function expectAccessible(page: Page, where = "", rules?: readonly string[]): Promise<void> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
  const findings = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run(o: object): Promise<{ violations: Finding[] }> } };
    return (await axe.run({ resultTypes: ["violations"], ...(runOnly && { runOnly }) })).violations;
  }, rules);
  const told = findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  expect([where, ...told]).toEqual([where]);
}

/** Where POSTHORN_SCREENSHOTS names a folder, for people to look at. */
export async function screenshot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const folder = process.env.POSTHORN_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}
