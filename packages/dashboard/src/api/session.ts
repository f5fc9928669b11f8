// Who is signed in, and the way in and out. A one-time code stands in the fragment, which no server and no log sees; it
// is taken from the address before anything else happens.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, isStatus } from "./client.ts";

export type Session = Awaited<ReturnType<typeof api.session.get>>;

/** Null: nobody is signed in. */
async function readSession(): Promise<Session | null> {
  const code = takeCode();
  try {
    if (code !== null) return await api.session.create({ body: { code } });
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
  };
}

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await api.session.end();
    beginAs(queries, null);
  };
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
