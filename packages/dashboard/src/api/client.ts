// The one way to the server: the typed client, with the session's cookie in place of a key.

import { operations } from "virtual:operations";
import { clientOf, PosthornApiError, type PosthornClient } from "@posthorn/client/web";

/** Where the server is mounted, without a slash at the end. */
export const BASE_URL = new URL(".", document.baseURI).href.replace(/\/+$/, "");
/** The same as a path: empty at the root of a host. */
export const BASE_PATH = new URL(BASE_URL).pathname.replace(/\/+$/, "");

/** Both pages may be open side by side, each with a session of its own. */
const PAGE = document.documentElement.dataset.page === "portal" ? "portal" : "dashboard";

/** What the client sends by itself, for the one request that it does not make. */
export const PAGE_HEADER = { "posthorn-dashboard": PAGE === "portal" ? "portal" : "1" } as const;

const refused = new Set<() => void>();

export const api: PosthornClient = clientOf(operations, {
  url: BASE_URL,
  key: null,
  page: PAGE,
  fetch: async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 401) for (const listener of refused) listener();
    return response;
  },
});

/** Whatever was asked for: the server knows of no session any more. Until the returned function is called. */
export function whenRefused(listener: () => void): () => void {
  refused.add(listener);
  return () => refused.delete(listener);
}

export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof PosthornApiError && statuses.includes(error.status);
}
