// Which paths are screens of the dashboard or of the portal. Any other is not the page's to answer.
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

/** The page that shows it; null: no screen of ours. */
export function screenAt(path: string): Page | null {
  if (SCREENS.portal.test(path)) return "portal";
  return SCREENS.dashboard.test(path) ? "dashboard" : null;
}

function patternOf(screens: readonly string[]): RegExp {
  const paths = screens.map((path) => path.replace(/\/$/, "").replaceAll(/\{\w+\}/g, "[^/]+"));
  return new RegExp(`^(?:${paths.join("|")})/?$`);
}
