// A person in a browser, as the server sees one: a cookie, and the header that only its own pages send.
import type { Posthorn } from "posthorn";
import { onTestFinished } from "vitest";
import { createServer, type ServerOptions } from "../../packages/server/src/server.ts";
import { type Answer, adminKey, send, type TestServer } from "./start-server.ts";

/** Of a page that has not signed in. */
export const visitor: Record<string, string> = { "posthorn-dashboard": "1" };
export const portalVisitor: Record<string, string> = { "posthorn-dashboard": "portal" };

export interface SignedIn {
  readonly answer: Answer;
  /** For `server.visit`, or a fetch of one's own. */
  readonly headers: Record<string, string>;
}

/** A code is taken for a customer's. */
export async function signIn(
  server: Pick<TestServer, "visit">,
  given: { readonly key: string } | { readonly code: string },
  headers: Record<string, string> = "code" in given ? portalVisitor : visitor,
): Promise<SignedIn> {
  const answer = await server.visit("POST", "/api/v1/session", given, headers);
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  return { answer, headers: { ...headers, cookie } };
}

/** What stands behind the # of a link. */
export function codeIn(url: string): string {
  return new URL(url).hash.replace("#code=", "");
}

/** A server on a Posthorn that is there already: one node of several, or one whose clock is moved. */
export async function serve(
  hooks: Posthorn,
  options: Partial<ServerOptions> = {},
): Promise<Pick<TestServer, "url" | "visit">> {
  const server = createServer({ hooks, port: 0, adminKey, ...options });
  const { url } = await server.start();
  onTestFinished(() => server.stop({ graceMs: 500 }));
  return { url, visit: (method, path, body, headers) => send(url, method, path, body, headers) };
}
