// The customers' screens and their addresses.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { BASE_PATH } from "../api/client.ts";
import { PortalShell } from "./portal-shell.tsx";

const root = createRootRoute({ component: PortalShell });

const endpoints = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/portal/endpoints.tsx"), "PortalEndpoints"),
});

export const portalRouter = createRouter({
  routeTree: root.addChildren([endpoints]),
  basepath: `${BASE_PATH}/portal`,
  defaultPreload: "intent",
  scrollRestoration: true,
});
