// Signs in as a browser does: a cookie, and the header that only the dashboard's pages send.
import type { Posthorn } from "posthorn";
import { onTestFinished } from "vitest";
import { createServer, type ServerOptions } from "../../packages/server/src/server.ts";
import { type Answer, adminKey, send, type TestServer } from "./start-server.ts";

/** The headers of a page without a session. */
export const visitor: Record<string, string> = { "posthorn-dashboard": "1" };
export const portalVisitor: Record<string, string> = { "posthorn-dashboard": "portal" };

export interface SignedIn {
  readonly answer: Answer;
  /** For `server.visit` or fetch. */
  readonly headers: Record<string, string>;
}

/** A code signs in to the portal, a key to the dashboard. */
export async function signIn(
  server: Pick<TestServer, "visit">,
  given: { readonly key: string } | { readonly code: string },
  headers: Record<string, string> = "code" in given ? portalVisitor : visitor,
): Promise<SignedIn> {
  const answer = await server.visit("POST", "/api/v1/session", given, headers);
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  return { answer, headers: { ...headers, cookie } };
}

/** Returns the one-time code of a link. */
export function codeIn(url: string): string {
  return new URL(url).hash.replace("#code=", "");
}

/** Starts a server on an existing Posthorn, for example one of several nodes or one with a test clock. */
export async function serve(
  hooks: Posthorn,
  options: Partial<ServerOptions> = {},
): Promise<Pick<TestServer, "url" | "visit">> {
  const server = createServer({ hooks, port: 0, adminKey, ...options });
  const { url } = await server.start();
  onTestFinished(() => server.stop({ graceMs: 500 }));
  return { url, visit: (method, path, body, headers) => send(url, method, path, body, headers) };
}
