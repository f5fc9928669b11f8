// Every screen of the dashboard and the portal: hostile input stays text, nothing is loaded from other hosts, it is
// accessible in both themes, and it fits a phone in both languages.
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  COLOURS,
  expectAccessible,
  type OpenPage,
  openPage,
  screenshot,
} from "../support/processes/browser.ts";
import { adminKey, startServer, type TestServer } from "../support/servers/start-server.ts";
import { HOSTILE_TEXTS } from "./hostile-texts.ts";
import { type HostileWorld, startHostileWorld } from "./hostile-world.ts";
import { type Audience, routesOf, show, viewsOf } from "./screens.ts";

let world: HostileWorld;
beforeAll(async () => {
  world = await startHostileWorld(afterAll);
});

/** The hostile texts that were on a screen; the others prove nothing. */
const seen = new Set<string>();

const phone = {
  viewport: { width: 360, height: 740 },
  locale: "de-DE",
  colorScheme: "dark",
  reducedMotion: "reduce",
} as const;
const desktop = { viewport: { width: 1280, height: 800 }, locale: "en-GB", colorScheme: "light" } as const;

describe.each<Audience>(["operator", "portal"])("%s", (audience) => {
  let wide: OpenPage;
  let narrow: OpenPage;
  beforeAll(async () => {
    wide = await enter(audience, desktop);
    narrow = await enter(audience, phone);
  });

  describe.each(routesOf(audience))("%s", (route) => {
    test("is accessible, shows hostile input as text, fits the window and respects reduced motion", async () => {
      const views = viewsOf(audience, world.ids).filter((view) => view.route === route);
      for (const { path } of views) {
        for (const [look, opened] of Object.entries({ wide, narrow })) {
          // dashboard and portal share the tabs of an endpoint: each tab is checked once wide and once narrow
          if (path.includes("?tab=") && (audience === "operator") !== (look === "wide")) continue;
          await show(opened.page, world.server.url + path);
          await screenshot(opened.page, `${fileName(path)}-${look}`);
          const content = (await opened.page.textContent("main")) ?? "";
          for (const text of HOSTILE_TEXTS) if (content.includes(text)) seen.add(text);
          expect.soft([path, look, await markupFromInput(opened.page)]).toEqual([path, look, []]);
          expect.soft([path, look, await overflow(opened.page)]).toEqual([path, look, []]);
          if (look === "narrow") expect.soft([path, await animations(opened.page)]).toEqual([path, []]);
          await expectAccessible(opened.page, `${path} ${look}`, look === "wide" ? COLOURS : undefined);
          expect.soft([path, look, opened.complaints.splice(0)]).toEqual([path, look, []]);
        }
      }
    });
  });
});

function fileName(path: string): string {
  const plain = path.replace(/(?:ep|dlv|evt|rpl)_[\w-]+/, "one").replaceAll(/[/?=]+/g, "-");
  return plain.replace(/^-/, "") || "overview";
}

test("at least sixty hostile texts were shown verbatim", () => {
  expect(seen.size).toBeGreaterThanOrEqual(60);
});

describe("a screen without data", () => {
  test("is accessible in both themes when there is nothing yet", async () => {
    const empty = await startServer({ started: false });
    await empty.call("PUT", "/api/v1/tenants/acme", {});
    for (const audience of ["operator", "portal"] as const) {
      const { page } = await enter(audience, phone, empty);
      for (const path of listsOf(audience)) {
        await show(page, empty.url + path);
        await expectAccessible(page, path);
        expect.soft([path, await overflow(page)]).toEqual([path, []]);
        await page.emulateMedia({ colorScheme: "light" });
        await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
        await expectAccessible(page, `${path} light`, COLOURS);
        await page.emulateMedia({ colorScheme: "dark" });
      }
    }
  });

  test.each([
    ["failed to load", 500, "Laden fehlgeschlagen", phone],
    ["access denied", 403, "Access denied", desktop],
  ] as const)("is accessible: %s", async (_state, status, says, look) => {
    for (const audience of ["operator", "portal"] as const) {
      const { page } = await enter(audience, look);
      const body = JSON.stringify({ status, code: "refused", title: "No.", detail: "No." });
      await page.route(/\/api\/v1\/(?!session)/, (route) =>
        route.fulfill({ status, contentType: "application/problem+json", body }),
      );
      for (const path of listsOf(audience)) {
        await show(page, world.server.url + path);
        if (!WITHOUT_DATA.test(path)) await page.getByText(says).first().waitFor();
        expect.soft([path, await overflow(page)]).toEqual([path, []]);
        await expectAccessible(page, path, STATES);
      }
    }
  });
});

/** The axe rules for the part of a screen that shows a state. */
const STATES = ["color-contrast", "page-has-heading-one", "region", "button-name", "aria-allowed-role"];

/** Screens that load no data when they open. */
const WITHOUT_DATA = /\/(?:verify|contract|first-run|tail)$/;

/** The screens whose path has no parameter. */
function listsOf(audience: Audience): string[] {
  const views = viewsOf(audience, world.ids).filter(({ route }) => !route.includes("$"));
  return views.map(({ path }) => path);
}

type Look = BrowserContextOptions;

async function enter(audience: Audience, look: Look, server: TestServer = world.server): Promise<OpenPage> {
  const isOperator = audience === "operator";
  const link = isOperator ? null : await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const opened = await watched(link?.json.url ?? server.url, look);
  if (isOperator) {
    await opened.page.locator("input").first().fill(adminKey);
    await opened.page.keyboard.press("Enter");
  }
  await opened.page.locator("#content").waitFor();
  return opened;
}

/** Records requests to other hosts and violations of the Content-Security-Policy as complaints. */
async function watched(url: string, look: Look): Promise<OpenPage> {
  const opened = await openPage(url, { ...look, atEnd: afterAll });
  opened.page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin)
      opened.complaints.push(`loads ${request.url()}`);
  });
  await opened.page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      console.error(`policy: ${violatedDirective} ${blockedURI}`),
    );
  });
  return opened;
}

/** Returns elements, attributes and links that input may have created, and whether a script ran. */
async function markupFromInput(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const found: string[] = [];
    if ("canary" in window) found.push("it ran");
    if ("polluted" in {}) found.push("it is in every object");
    const elements = document.querySelectorAll("body *");
    const strange =
      "x-canary, script, iframe, object, embed, base, link, meta, style, video, math, marquee, img";
    for (const element of elements) {
      if (element.matches(strange) && !element.matches("#root ~ *"))
        found.push(element.outerHTML.slice(0, 200));
      for (const { name, value } of element.attributes) {
        if (name.startsWith("on")) found.push(`${name}=${value.slice(0, 100)}`);
        if (
          ["href", "src", "action", "formaction"].includes(name) &&
          !/^https?:$/.test(new URL(value, location.href).protocol)
        )
          found.push(`${name}=${value.slice(0, 100)}`);
        if (name === "target") found.push(`target=${value}`);
      }
    }
    return found;
  });
}

/** Returns the elements with a visible animation. */
async function animations(page: Page): Promise<string[]> {
  return await page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ effect }) => Number(effect?.getComputedTiming().duration) > 1)
      .map(({ effect }) => String((effect as KeyframeEffect).target?.className)),
  );
}

/** Returns the elements that are wider than the window. */
async function overflow(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll("main *, aside *")].filter(
      (element) =>
        element.getBoundingClientRect().right > clientWidth + 1 &&
        element.closest(".overflow-x-auto, .overflow-auto") === null,
    );
    return [
      `${scrollWidth} of ${clientWidth}`,
      ...wide.slice(0, 3).map(({ outerHTML }) => outerHTML.slice(0, 160)),
    ];
  });
}
