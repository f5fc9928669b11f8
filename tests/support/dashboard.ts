// The dashboard in a real browser, signed in as an operator, in a theme and at a width.
import type { BrowserContextOptions, Page } from "playwright-core";
import { COLOURS, expectAccessible, openPage, screenshot } from "./browser.ts";
import { adminKey, type TestServer } from "./start-server.ts";

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
