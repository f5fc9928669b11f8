// All screens, read from the routers.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { HostileWorld } from "./hostile-world.ts";

export type Audience = "operator" | "portal";

export interface View {
  readonly route: string;
  readonly path: string;
}

/** Returns the routes in the syntax of the router: `/events/$id`. */
export function routesOf(audience: Audience): string[] {
  const file = new URL(`../../packages/dashboard/src/app/${audience}-router.tsx`, import.meta.url);
  return [...readFileSync(file, "utf8").matchAll(/^ {2}"([^"]+)": page\(/gm)].map(
    ([, path]) => path as string,
  );
}

const ENDPOINT_TABS = ["", "?tab=contract", "?tab=secrets", "?tab=filter", "?tab=test", "?tab=settings"];

const PLURALS = {
  event: "events",
  delivery: "deliveries",
  endpoint: "endpoints",
  replay: "replays",
} as const;
const KINDS = Object.keys(PLURALS) as (keyof typeof PLURALS)[];

/** Returns the paths of all screens. Throws if a parameter of a route is not known here. */
export function viewsOf(audience: Audience, ids: HostileWorld["ids"]): View[] {
  const base = audience === "portal" ? "/portal" : "";
  return routesOf(audience).flatMap((route) => {
    const kind = KINDS.find((name) => route.includes(`/${PLURALS[name]}/$id`));
    const values: Record<string, string | undefined> = {
      $tenant: "acme",
      $name: "order.paid",
      $id: kind && ids[kind],
    };
    const path = route.replaceAll(/\$\w+/g, (name) => {
      const value = values[name];
      if (value === undefined)
        throw new Error(`${route} is a new kind of screen: add it to ${import.meta.url}.`);
      return value;
    });
    const tabs = kind === "endpoint" ? ENDPOINT_TABS : [""];
    return tabs.map((tab) => ({ route, path: (base + path).replace(/(?<=.)\/$/, "") + tab }));
  });
}

/** Opens a screen, waits until it is loaded, and unfolds its forms. */
export async function show(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await settled(page);
  await page.evaluate(() => {
    for (const folded of document.querySelectorAll("form details")) folded.setAttribute("open", "");
  });
}

async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const main = document.querySelector("main");
    const isLoading = [...document.querySelectorAll("[role=status]")].some(({ textContent }) =>
      /^(Loading|Wird geladen|Weitere werden geladen)/.test(textContent ?? ""),
    );
    return main !== null && (main.textContent ?? "") !== "" && !isLoading;
  });
}
