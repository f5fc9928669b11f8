// Finds the route of a request. Paths without parameters are looked up in a map; the others are matched by pattern.
import type { Permission } from "@posthorn/client";
import type { Exchange } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import type { Reply } from "./reply.ts";

/** Who may call a route. There is no default: a route without a permission fails at start. */
export type RoutePermission = "public" | Permission;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "*";

export interface Route {
  readonly method: Method;
  /** Segments in braces are parameters: `/tenants/{tenant}`. */
  readonly path: string;
  readonly permission: RoutePermission;
  /** Refused while the server drains, so that the client uses another process: publishing, and streams that stay open. */
  readonly isRefusedWhileDraining?: boolean;
  /** The response may be as large as a page; memory for it is reserved before the handler runs. */
  readonly hasLargeResponse?: boolean;
  readonly handle: (exchange: Exchange) => Reply | Promise<Reply>;
}

/** A route that anyone may call. */
export function publicRoute(method: Method, path: string, handle: Route["handle"]): Route {
  return { method, path, permission: "public", handle };
}

export type Params = Readonly<Record<string, string>>;

export type Match =
  | { readonly kind: "found"; readonly route: Route; readonly params: Params }
  | { readonly kind: "wrong_method"; readonly allow: string }
  | { readonly kind: "not_found" };

export interface Router {
  match(method: string, path: string): Match;
}

/** The routes of one path by method. */
interface Place {
  readonly pattern: RegExp;
  readonly routes: Map<string, Route>;
}

export function createRouter(routes: readonly Route[]): Router {
  const places = new Map<string, Place>();
  for (const route of routes) {
    checkPermission(route);
    const place = places.get(route.path) ?? { pattern: patternOf(route.path), routes: new Map() };
    if (place.routes.has(route.method))
      throw new Error(`The route ${route.method} ${route.path} is a duplicate.`);
    place.routes.set(route.method, route);
    places.set(route.path, place);
  }
  // A path with fewer parameters is more specific: /event-types/export is not an event type.
  const specificFirst = [...places.values()].toSorted((a, b) => parametersIn(a) - parametersIn(b));
  return {
    match(method, asked) {
      const path = withoutTrailingSlash(asked);
      const place = places.get(path) ?? specificFirst.find(({ pattern }) => pattern.test(path));
      if (place === undefined) return { kind: "not_found" };
      const route = place.routes.get(method === "HEAD" ? "GET" : method) ?? place.routes.get("*");
      if (route === undefined) return { kind: "wrong_method", allow: allowed(place) };
      return { kind: "found", route, params: paramsOf(place, path) };
    },
  };
}

/** Clients of other APIs end their paths with a slash. Pages of the dashboard have relative links, so theirs stay. */
function withoutTrailingSlash(path: string): string {
  return path.startsWith(API) && path.endsWith("/") ? path.slice(0, -1) : path;
}

const API = "/api/";

function checkPermission({ method, path, permission }: Route): void {
  if (permission === "public" || (permission?.scopes?.length > 0 && permission.reach !== undefined)) return;
  throw new Error(
    `The route ${method} ${path} declares no permission. Make it public, or list the scopes it needs.`,
  );
}

/** `/tenants/{tenant}` becomes `^/tenants/(?<tenant>[^/]+)$`. */
function patternOf(path: string): RegExp {
  const pattern = path.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  return new RegExp(`^${pattern}$`);
}

function parametersIn({ pattern }: Place): number {
  return pattern.source.split("(?<").length;
}

function allowed({ routes }: Place): string {
  return [...routes.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}

const NO_PARAMS: Params = {};

function paramsOf({ pattern }: Place, path: string): Params {
  const { groups } = pattern.exec(path) ?? {};
  if (groups === undefined) return NO_PARAMS;
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new HttpError(
      "malformed_url",
      "The path contains an invalid percent-encoding. Encode it as UTF-8.",
    );
  }
}
