// Notifies all tabs of a sign-in or sign-out: they share the session cookie.
import { BASE_PATH, PAGE_HEADER } from "./client.ts";

const listeners = new Set<() => void>();
const channel =
  typeof BroadcastChannel === "undefined"
    ? null
    : new BroadcastChannel(`posthorn-session:${BASE_PATH}:${PAGE_HEADER["posthorn-dashboard"]}`);
if (channel !== null) channel.onmessage = checkSession;

/** Notifies the other tabs. */
export function broadcastSessionChange(): void {
  channel?.postMessage(null);
}

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Makes this tab check its session. */
export function checkSession(): void {
  for (const listener of listeners) listener();
}
