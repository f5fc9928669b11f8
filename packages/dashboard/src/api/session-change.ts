// That somebody signed in or out, told to all tabs of a browser: the cookie is one for all of them. Also that the stream
// of a tab was refused.
import { BASE_PATH, PAGE_HEADER } from "./client.ts";

const listeners = new Set<() => void>();
const channel =
  typeof BroadcastChannel === "undefined"
    ? null
    : new BroadcastChannel(`posthorn-session:${BASE_PATH}:${PAGE_HEADER["posthorn-dashboard"]}`);
if (channel !== null) channel.onmessage = lookAtSession;

/** To the other tabs. */
export function tellSessionChanged(): void {
  channel?.postMessage(null);
}

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** In this tab: whether it is still there. */
export function lookAtSession(): void {
  for (const listener of listeners) listener();
}
