// The typed API client, authenticated by the session cookie.

import { operations } from "virtual:operations";
import { clientOf, PosthornApiError, type PosthornClient } from "@posthorn/client/web";

/** The URL at which the server is mounted, without a trailing slash. */
export const BASE_URL = new URL(".", document.baseURI).href.replace(/\/+$/, "");
/** Its path; empty at the root of a host. */
export const BASE_PATH = new URL(BASE_URL).pathname.replace(/\/+$/, "");

/** Dashboard and portal have separate sessions in one browser. */
const PAGE = document.documentElement.dataset.page === "portal" ? "portal" : "dashboard";

/** The header that the client sends with every request; needed for the live stream, which does not use the client. */
export const PAGE_HEADER = { "posthorn-dashboard": PAGE === "portal" ? "portal" : "1" } as const;

const unauthorizedListeners = new Set<() => void>();

export const api: PosthornClient = clientOf(operations, {
  url: BASE_URL,
  key: null,
  page: PAGE,
  fetch: async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 401) for (const listener of unauthorizedListeners) listener();
    return response;
  },
});

/** Calls `listener` on every 401 response, until the returned function is called. */
export function onUnauthorized(listener: () => void): () => void {
  unauthorizedListeners.add(listener);
  return () => unauthorizedListeners.delete(listener);
}

export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof PosthornApiError && statuses.includes(error.status);
}
