// Who is signed in, and the way in and out. A one-time code stands in the fragment, which no server and no log sees; it
// is taken from the address before anything else happens.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { isFramed } from "../app/frame.ts";
import { api, isStatus, whenRefused } from "./client.ts";
import { onSessionChange, tellSessionChanged } from "./session-change.ts";

export type Session = Awaited<ReturnType<typeof api.session.get>>;

/** `ended`: somebody was, on this page. `no-cookie`: somebody came, and the browser keeps no cookie in a frame here. */
export type WhyNobody = "never" | "ended" | "no-cookie";

let whyNobody: WhyNobody = "never";

export function whyNobodyIsSignedIn(): WhyNobody {
  return whyNobody;
}

/** Null: nobody is signed in. */
async function readSession(): Promise<Session | null> {
  const code = takeCode();
  try {
    if (code === null) return await api.session.get();
    const session = await api.session.create({ body: { code } });
    tellSessionChanged();
    return isFramed ? await keptSession() : session;
  } catch (error) {
    if (isStatus(error, 401)) return null;
    throw error;
  }
}

/** What came with a cookie that the browser does not keep is not there any more at the next request. */
async function keptSession(): Promise<Session | null> {
  whyNobody = "no-cookie";
  const session = await api.session.get();
  whyNobody = "never";
  return session;
}

function codeInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("code");
}

function takeCode(): string | null {
  const code = codeInAddress();
  if (code !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

const KEY = ["session"];

export function useSession() {
  return useQuery({ queryKey: KEY, queryFn: readSession, staleTime: Number.POSITIVE_INFINITY });
}

/** Notices that the session is over, that another tab changed it, or that a new link was opened where the page is already. */
export function useSessionChanges(): void {
  const queries = useQueryClient();
  const { data: session } = useSession();
  const endsAt = session?.expires_at ?? null;
  useEffect(() => {
    if (session === null || session === undefined) return;
    return whenRefused(() => {
      whyNobody = "ended";
      beginAs(queries, null);
    });
  }, [queries, session]);
  useEffect(() => {
    if (endsAt === null) return;
    // the server is asked and not this computer's clock, which may be wrong
    const look = () => void api.session.get().catch(() => {});
    const timer = setTimeout(look, Math.max(0, Date.parse(endsAt) - Date.now()) + 1_000);
    return () => clearTimeout(timer);
  }, [endsAt]);
  useEffect(() => {
    const onLink = () => {
      if (codeInAddress() !== null) void readSession().then((next) => beginAs(queries, next));
    };
    addEventListener("hashchange", onLink);
    return () => removeEventListener("hashchange", onLink);
  }, [queries]);
  useEffect(() => {
    const look = async () => {
      try {
        const session = await readSession();
        const known = queries.getQueryData<Session | null>(KEY);
        if (session !== null && session.expires_at !== known?.expires_at) beginAs(queries, session);
      } catch {
        // the server is away: whoever asks next is told what is so
      }
    };
    return onSessionChange(() => void look());
  }, [queries]);
}

export function useSignIn(): (key: string) => Promise<void> {
  const queries = useQueryClient();
  return async (key) => {
    beginAs(queries, await api.session.create({ body: { key } }));
    tellSessionChanged();
  };
}

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await api.session.end();
    beginAs(queries, null);
    tellSessionChanged();
  };
}

/** What was shown to somebody else is forgotten; the session itself stays, since the page looks at it. */
function beginAs(queries: QueryClient, session: Session | null): void {
  queries.setQueryData(KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
}

/** Whoever may not is not shown the way to it. */
export function useMay(scope: Session["scopes"][number]): boolean {
  const scopes = useSession().data?.scopes ?? [];
  return scopes.includes("admin") || scopes.includes(scope);
}

/** Tells one session of a browser from the next. */
export function sessionName({ kind, tenant, user, expires_at }: Session): string {
  return [kind, tenant, user, expires_at].join(":");
}

/** The only tenant there is for whoever is signed in to a portal. */
export function useTenant(): string {
  const { data } = useSession();
  if (typeof data?.tenant !== "string") throw new Error("This session is of no tenant.");
  return data.tenant;
}
