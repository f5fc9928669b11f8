// Who is signed in, and the way in and out. A one-time code stands in the fragment, which no server and no log sees; it
// is taken from the address before anything else happens.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, isStatus } from "./client.ts";
import { onSessionChange, tellSessionChanged } from "./session-change.ts";

export type Session = Awaited<ReturnType<typeof api.session.get>>;

/** Null: nobody is signed in. */
async function readSession(): Promise<Session | null> {
  const code = takeCode();
  try {
    if (code !== null) {
      const session = await api.session.create({ body: { code } });
      tellSessionChanged();
      return session;
    }
    return await api.session.get();
  } catch (error) {
    if (isStatus(error, 401)) return null;
    throw error;
  }
}

function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

const KEY = ["session"];

export function useSession() {
  return useQuery({ queryKey: KEY, queryFn: readSession, staleTime: Number.POSITIVE_INFINITY });
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

/** What another tab did to the session, or the server, is so here too. */
export function useSessionChanges(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const look = async () => {
      try {
        const session = await readSession();
        const known = queries.getQueryData<Session | null>(KEY);
        if (session === null || session.expires_at !== known?.expires_at) beginAs(queries, session);
      } catch {
        // the server is away: whoever asks next is told what is so
      }
    };
    return onSessionChange(() => void look());
  }, [queries]);
}

/** What was shown to somebody else is forgotten; the session itself stays, since the page looks at it. */
function beginAs(queries: QueryClient, session: Session | null): void {
  queries.setQueryData(KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
}

/** The only tenant there is for whoever is signed in to a portal. */
export function useTenant(): string {
  const { data } = useSession();
  if (typeof data?.tenant !== "string") throw new Error("This session is of no tenant.");
  return data.tenant;
}
