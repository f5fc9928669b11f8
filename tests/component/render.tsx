/// <reference types="vite/client" />
// Renders the dashboard or the portal against the real server of a test, without a browser. The pages' requests go to
// the server with the cookie of the session.
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { cleanup, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { onTestFinished } from "vitest";
import { createOperatorRouter } from "../../packages/dashboard/src/app/operator-router.tsx";
import { createPortalRouter } from "../../packages/dashboard/src/app/portal-router.tsx";
import { setPreferences } from "../../packages/dashboard/src/app/preferences.ts";
import { PageRoot } from "../../packages/dashboard/src/app/start.tsx";
import { SignedOut } from "../../packages/dashboard/src/pages/portal/signed-out.tsx";
import { SignIn } from "../../packages/dashboard/src/pages/sign-in.tsx";
import { adminKey, codeIn, signIn, type TestServer } from "../support/servers/start-server.ts";
import { ORIGIN } from "./dom.ts";
import { Ui } from "./ui.ts";

// loaded before the first test: a page that is loaded on demand is compiled while a test waits for it
import.meta.glob("../../packages/dashboard/src/pages/**/*.tsx", { eager: true });

export interface Rendered {
  readonly ui: Ui;
  /** The current path with its search. */
  readonly path: () => string;
  /** Method and path of every change that was requested. */
  readonly changes: readonly string[];
  /** Resolves when the live stream is open: changes from then on are shown. */
  readonly live: Promise<void>;
}

/** Responds to a request instead of the server. */
type Respond = (request: { readonly method: string; readonly path: string }) => Response | undefined;

export async function openDashboard(
  server: TestServer,
  path: string,
  options: { readonly respond?: Respond } = {},
): Promise<Rendered> {
  const { headers } = await signIn(server, { key: adminKey });
  return open(server, headers, createOperatorRouter, path, <SignIn />, options.respond);
}

/** Signs in with a link that the API created. */
export async function openPortal(server: TestServer, link: string): Promise<Rendered> {
  const { headers } = await signIn(server, { code: codeIn(link) });
  return open(server, headers, createPortalRouter, "/portal", <SignedOut />);
}

function open(
  server: TestServer,
  session: Record<string, string>,
  createRouter: typeof createOperatorRouter,
  path: string,
  signedOut: ReactNode,
  respond?: Respond,
): Rendered {
  cleanup();
  setPreferences({ language: "en" });
  const changes: string[] = [];
  const live = routeRequests(server, session, ({ method, path: asked }) => {
    if (method !== "GET") changes.push(`${method} ${asked}`);
    return respond?.({ method, path: asked });
  });
  const router = createRouter(createMemoryHistory({ initialEntries: [path] }));
  render(
    <PageRoot whenSignedIn={() => <RouterProvider router={router} />} whenSignedOut={() => signedOut} />,
  );
  return { ui: new Ui(), path: () => router.state.location.href, changes, live };
}

const nodeFetch = globalThis.fetch;

function routeRequests(server: TestServer, session: Record<string, string>, respond: Respond): Promise<void> {
  let onLive = () => {};
  const live = new Promise<void>((resolve) => {
    onLive = resolve;
  });
  const closed = new AbortController();
  // before the server stops, which waits for open streams
  onTestFinished(() => closed.abort());
  globalThis.fetch = async (input, init = {}) => {
    const url = String(input);
    if (!url.startsWith(ORIGIN)) return nodeFetch(input, init);
    const path = url.slice(ORIGIN.length);
    const response = respond({ method: init.method ?? "GET", path });
    if (response !== undefined) return response;
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...session };
    const signal = init.signal ? AbortSignal.any([init.signal, closed.signal]) : closed.signal;
    const answer = await nodeFetch(server.url + path, { ...init, headers, signal });
    if (path === "/live" && answer.ok) onLive();
    return answer;
  };
  return live;
}
