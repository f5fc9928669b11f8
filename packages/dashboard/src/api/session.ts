// The session. A one-time code in the URL fragment (never sent to a server or log) is removed before anything else.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { isFramed } from "../app/frame.ts";
import { api, BASE_PATH, isStatus, onUnauthorized, PAGE_HEADER } from "./client.ts";

export type Session = Awaited<ReturnType<typeof api.session.get>>;

/** `ended`: the session expired on this page. `no-cookie`: the browser rejected the session cookie in a frame. */
type SignedOutReason = "never" | "ended" | "no-cookie";

let signedOutReason: SignedOutReason = "never";

/** Tabs share the session cookie: each notifies the others of a sign-in or sign-out. */
const channel =
  typeof BroadcastChannel === "undefined"
    ? null
    : new BroadcastChannel(`posthorn-session:${BASE_PATH}:${PAGE_HEADER["posthorn-dashboard"]}`);
const listeners = new Set<() => void>();
if (channel !== null) channel.onmessage = checkSession;

/** Makes this tab check its session. */
export function checkSession(): void {
  for (const listener of listeners) listener();
}

export function getSignedOutReason(): SignedOutReason {
  return signedOutReason;
}

/** Returns null without a session. */
async function readSession(): Promise<Session | null> {
  const code = consumeCode();
  try {
    if (code === null) return await api.session.get();
    const session = await api.session.create({ body: { code } });
    channel?.postMessage(null);
    return isFramed ? await keptSession() : session;
  } catch (error) {
    if (isStatus(error, 401)) return null;
    throw error;
  }
}

async function keptSession(): Promise<Session | null> {
  signedOutReason = "no-cookie";
  const session = await api.session.get();
  signedOutReason = "never";
  return session;
}

function codeInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("code");
}

function consumeCode(): string | null {
  const code = codeInAddress();
  if (code !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

const KEY = ["session"];

export function useSession() {
  // never reloaded with the other data: a failure would replace the whole page
  return useQuery({ queryKey: KEY, queryFn: readSession, staleTime: "static" });
}

/** Reacts to an ended session, to changes in other tabs and to a new one-time link on the open page. */
export function useSessionChanges(): void {
  const queries = useQueryClient();
  const { data: session } = useSession();
  const endsAt = session?.expires_at ?? null;
  useEffect(() => {
    if (session === null || session === undefined) return;
    return onUnauthorized(() => {
      signedOutReason = "ended";
      switchSession(queries, null);
    });
  }, [queries, session]);
  useEffect(() => {
    if (endsAt === null) return;
    // the server decides: this computer's clock may be wrong
    const look = () => void api.session.get().catch(() => {});
    const timer = setTimeout(look, Math.max(0, Date.parse(endsAt) - Date.now()) + 1_000);
    return () => clearTimeout(timer);
  }, [endsAt]);
  useEffect(() => {
    const onLink = () => {
      if (codeInAddress() !== null) void readSession().then((next) => switchSession(queries, next));
    };
    addEventListener("hashchange", onLink);
    return () => removeEventListener("hashchange", onLink);
  }, [queries]);
  useEffect(() => {
    const look = async () => {
      try {
        const session = await readSession();
        const known = queries.getQueryData<Session | null>(KEY);
        if (session !== null && session.expires_at !== known?.expires_at) switchSession(queries, session);
      } catch {
        // the server is unreachable; the next request shows it
      }
    };
    const listener = () => void look();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [queries]);
}

export function useSignIn(): (key: string) => Promise<void> {
  const queries = useQueryClient();
  return async (key) => {
    switchSession(queries, await api.session.create({ body: { key } }));
    channel?.postMessage(null);
  };
}

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await api.session.end();
    switchSession(queries, null);
    channel?.postMessage(null);
  };
}

/** Sets the session and drops all data of the previous one. */
function switchSession(queries: QueryClient, session: Session | null): void {
  queries.setQueryData(KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
}

export function useHasScope(scope: Session["scopes"][number]): boolean {
  const scopes = useSession().data?.scopes ?? [];
  return scopes.includes("admin") || scopes.includes(scope);
}

export function sessionName({ kind, tenant, user, expires_at }: Session): string {
  return [kind, tenant, user, expires_at].join(":");
}

/** The tenant of the portal; null in the operator dashboard. */
export function usePortalTenant(): string | null {
  const { data } = useSession();
  return data?.kind === "portal" ? data.tenant : null;
}

export function useTenant(): string {
  const { data } = useSession();
  if (typeof data?.tenant !== "string") throw new Error("This session has no tenant.");
  return data.tenant;
}
