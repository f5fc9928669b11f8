// One stream for all tabs of a browser: the tab that holds the lock reads it and broadcasts to the others. When that tab
// closes, another takes over after the last message.
//
// Without Web Locks (plain http, some frames) every tab has its own stream, open only while the tab is visible: browsers
// allow six connections per host.
import { BASE_PATH, BASE_URL, PAGE_HEADER } from "../api/client.ts";
import { follow, type StreamState } from "./follow.ts";
import type { Changes } from "./live.ts";

export type StreamUpdate =
  | { readonly kind: "changes"; readonly changes: Changes }
  | { readonly kind: "state"; readonly state: StreamState };

/** A broadcast between tabs, with the last message id for the tab that takes over. */
type TabMessage = { readonly update: StreamUpdate | null; readonly lastId: string | null } | "get-state";

/** Opens the stream of a session; sessions never share one. Returns the function that closes it. */
export function openStream(session: string, onUpdate: (update: StreamUpdate) => void): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  onUpdate({ kind: "state", state: "connecting" });
  const name = `posthorn-live:${BASE_PATH}:${PAGE_HEADER["posthorn-dashboard"]}:${session}`;
  if (typeof BroadcastChannel === "undefined" || navigator.locks === undefined)
    streamWhileVisible(onUpdate, signal);
  else shareStream(name, onUpdate, signal);
  return () => controller.abort();
}

function shareStream(name: string, onUpdate: (update: StreamUpdate) => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(name);
  signal.addEventListener("abort", () => channel.close());
  let lastId: string | null = null;
  let heldState: StreamState | null = null;
  const broadcast = (update: StreamUpdate | null) => {
    if (signal.aborted) return;
    if (update?.kind === "state") heldState = update.state;
    if (update !== null) onUpdate(update);
    channel.postMessage({ update, lastId } satisfies TabMessage);
  };
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data === "get-state") {
      if (heldState !== null)
        channel.postMessage({ update: { kind: "state", state: heldState }, lastId } satisfies TabMessage);
      return;
    }
    lastId = data.lastId;
    if (data.update !== null) onUpdate(data.update);
  };
  channel.postMessage("get-state" satisfies TabMessage);
  const readShared = () => read(lastId, (id) => (lastId = id), broadcast, signal);
  navigator.locks.request(name, { signal }, readShared).catch(() => {
    if (!signal.aborted) streamWhileVisible(onUpdate, signal);
  });
}

function streamWhileVisible(onUpdate: (update: StreamUpdate) => void, signal: AbortSignal): void {
  let lastId: string | null = null;
  let current: AbortController | null = null;
  const onVisibilityChange = () => {
    if (document.visibilityState === "hidden") {
      current?.abort();
      current = null;
    } else if (current === null) {
      current = new AbortController();
      const visible = AbortSignal.any([signal, current.signal]);
      void read(
        lastId,
        (id) => (lastId = id),
        (update) => update !== null && onUpdate(update),
        visible,
      );
    }
  };
  document.addEventListener("visibilitychange", onVisibilityChange, { signal });
  onVisibilityChange();
}

function read(
  lastId: string | null,
  onId: (id: string) => void,
  broadcast: (update: StreamUpdate | null) => void,
  signal: AbortSignal,
): Promise<void> {
  return follow({
    lastId,
    signal,
    request: (seenId, open) =>
      fetch(`${BASE_URL}/live`, {
        headers: {
          accept: "text/event-stream",
          ...PAGE_HEADER,
          ...(seenId !== null && { "last-event-id": seenId }),
        },
        credentials: "same-origin",
        signal: open,
      }),
    pause,
    onState: (state) => broadcast({ kind: "state", state }),
    onMessage: ({ id, event, data }) => {
      if (id !== null) onId(id);
      broadcast(event === "changes" ? { kind: "changes", changes: JSON.parse(data) as Changes } : null);
    },
  });
}

/** Waits, or returns early when the browser is online again. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = () => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { signal: over.signal });
    window.addEventListener("online", end, { signal: over.signal });
  });
}
