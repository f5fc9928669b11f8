// All screens, read from the routers. A new screen must be added here, or the tests of all screens fail.
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
  return [...readFileSync(file, "utf8").matchAll(/\bpath: "([^"]+)"/g)].map(([, path]) => path as string);
}

const ENDPOINT_TABS = ["", "?tab=secrets", "?tab=filter", "?tab=test", "?tab=settings"];

type Addresses = (ids: HostileWorld["ids"]) => readonly string[];

const ADDRESSES: Readonly<Record<Audience, Readonly<Record<string, Addresses>>>> = {
  operator: {
    "/": () => ["/"],
    "/first-run": () => ["/first-run"],
    "/tail": () => ["/tail"],
    "/events": () => ["/events"],
    "/events/$id": ({ event }) => [`/events/${event}`],
    "/deliveries": () => ["/deliveries"],
    "/deliveries/$id": ({ delivery }) => [`/deliveries/${delivery}`],
    "/retry-queue": () => ["/retry-queue"],
    "/dead-letters": () => ["/dead-letters"],
    "/replays": () => ["/replays"],
    "/replays/$id": ({ replay }) => [`/replays/${replay}`],
    "/tenants": () => ["/tenants"],
    "/tenants/$tenant": () => ["/tenants/acme"],
    "/endpoints": () => ["/endpoints"],
    "/tenants/$tenant/endpoints/$id": ({ endpoint }) =>
      ENDPOINT_TABS.map((tab) => `/tenants/acme/endpoints/${endpoint}${tab}`),
    "/catalogue": () => ["/catalogue"],
    "/catalogue/$name": () => ["/catalogue/order.paid"],
    "/keys": () => ["/keys"],
    "/audit": () => ["/audit"],
    "/system": () => ["/system"],
    "/verify": () => ["/verify"],
  },
  portal: {
    "/": () => ["/portal"],
    "/add": () => ["/portal/add"],
    "/logs": () => ["/portal/logs"],
    "/deliveries/$id": ({ delivery }) => [`/portal/deliveries/${delivery}`],
    "/replays": () => ["/portal/replays"],
    "/endpoints/$id": ({ endpoint }) => ENDPOINT_TABS.map((tab) => `/portal/endpoints/${endpoint}${tab}`),
    "/catalogue": () => ["/portal/catalogue"],
    "/catalogue/$name": () => ["/portal/catalogue/order.paid"],
    "/contract": () => ["/portal/contract"],
    "/verify": () => ["/portal/verify"],
  },
};

/** Throws if a route has no paths here. */
export function viewsOf(audience: Audience, ids: HostileWorld["ids"]): View[] {
  return routesOf(audience).flatMap((route) => {
    const addresses = ADDRESSES[audience][route];
    if (addresses === undefined) throw new Error(`${route} is a new screen: add it to ${import.meta.url}.`);
    return addresses(ids).map((path) => ({ route, path }));
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
      /^(Loading|Lädt)/.test(textContent ?? ""),
    );
    return main !== null && (main.textContent ?? "") !== "" && !isLoading;
  });
}
