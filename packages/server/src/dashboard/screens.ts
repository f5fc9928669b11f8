// The paths of the dashboard's and the portal's screens.
import type { Page } from "../api/session/cookie.ts";

const OPERATOR_SCREENS = [
  "/",
  "/first-run",
  "/tail",
  "/events",
  "/events/{event}",
  "/deliveries",
  "/deliveries/{delivery}",
  "/retry-queue",
  "/dead-letters",
  "/replays",
  "/replays/{replay}",
  "/tenants",
  "/tenants/{tenant}",
  "/tenants/{tenant}/endpoints/{endpoint}",
  "/endpoints",
  "/catalogue",
  "/catalogue/{name}",
  "/keys",
  "/audit",
  "/system",
  "/contract",
  "/sign-in",
  "/verify",
];

const PORTAL_SCREENS = [
  "/portal",
  "/portal/endpoints/{endpoint}",
  "/portal/add",
  "/portal/logs",
  "/portal/deliveries/{delivery}",
  "/portal/catalogue",
  "/portal/catalogue/{name}",
  "/portal/replays",
  "/portal/contract",
  "/portal/verify",
];

const SCREENS: Readonly<Record<Page, RegExp>> = {
  dashboard: patternOf(OPERATOR_SCREENS),
  portal: patternOf(PORTAL_SCREENS),
};

/** Returns the page that shows the path, or null. */
export function screenAt(path: string): Page | null {
  if (SCREENS.portal.test(path)) return "portal";
  return SCREENS.dashboard.test(path) ? "dashboard" : null;
}

function patternOf(screens: readonly string[]): RegExp {
  const paths = screens.map((path) => path.replace(/\/$/, "").replaceAll(/\{\w+\}/g, "[^/]+"));
  return new RegExp(`^(?:${paths.join("|")})/?$`);
}
