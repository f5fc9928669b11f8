// Finds the route of a request in a tree of path segments. Paths without parameters are looked up in a map first.
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

export type Params = Readonly<Record<string, string>>;

export type Match =
  | { readonly kind: "found"; readonly route: Route; readonly params: Params }
  | { readonly kind: "wrong_method"; readonly allow: string }
  | { readonly kind: "not_found" };

export interface Router {
  match(method: string, path: string): Match;
}

export function createRouter(routes: readonly Route[]): Router {
  const root = newNode();
  const direct = new Map<string, Match>();
  for (const route of routes) {
    checkPermission(route);
    addRoute(root, route);
    if (route.method !== "*" && !route.path.includes("{")) {
      direct.set(`${route.method} ${route.path}`, { kind: "found", route, params: NO_PARAMS });
    }
  }
  return { match: (method, path) => direct.get(`${method} ${path}`) ?? search(root, method, path) };
}

const NO_PARAMS: Params = Object.freeze({});

function checkPermission({ method, path, permission }: Route): void {
  if (permission === "public" || (permission?.scopes?.length > 0 && permission.reach !== undefined)) return;
  throw new Error(
    `The route ${method} ${path} declares no permission. Make it public, or list the scopes it needs.`,
  );
}

interface Node {
  readonly children: Map<string, Node>;
  parameter: { readonly name: string; readonly node: Node } | null;
  readonly routes: Map<string, Route>;
}

function newNode(): Node {
  return { children: new Map(), parameter: null, routes: new Map() };
}

function addRoute(root: Node, route: Route): void {
  let node = root;
  for (const segment of segmentsOf(route.path)) node = childFor(node, segment, route);
  if (node.routes.has(route.method))
    throw new Error(`The route ${route.method} ${route.path} is a duplicate.`);
  node.routes.set(route.method, route);
}

function childFor(node: Node, segment: string, route: Route): Node {
  if (segment.startsWith("{")) {
    const name = segment.slice(1, -1);
    node.parameter ??= { name, node: newNode() };
    if (node.parameter.name !== name) {
      throw new Error(
        `The route ${route.path} names the parameter {${node.parameter.name}} of another route {${name}}.`,
      );
    }
    return node.parameter.node;
  }
  const child = node.children.get(segment) ?? newNode();
  node.children.set(segment, child);
  return child;
}

function search(root: Node, method: string, path: string): Match {
  if (!path.startsWith("/")) return { kind: "not_found" };
  const params: Record<string, string> = {};
  let node = root;
  for (const segment of segmentsOf(path)) {
    const child = node.children.get(segment);
    if (child) {
      node = child;
    } else if (node.parameter && segment !== "") {
      params[node.parameter.name] = decode(segment);
      node = node.parameter.node;
    } else {
      return { kind: "not_found" };
    }
  }
  if (node.routes.size === 0) return { kind: "not_found" };
  const route = node.routes.get(method === "HEAD" ? "GET" : method) ?? node.routes.get("*");
  return route ? { kind: "found", route, params } : { kind: "wrong_method", allow: allowed(node) };
}

function segmentsOf(path: string): string[] {
  return path.slice(1).split("/");
}

function allowed(node: Node): string {
  return [...node.routes.keys()]
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .join(", ");
}

function decode(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpError(
      "malformed_url",
      "The path contains an invalid percent-encoding. Encode it as UTF-8.",
    );
  }
}
