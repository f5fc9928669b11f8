// Of all tabs of a browser one holds the stream and tells the others, so that ten of them cost as much as one, and none
// of the few connections a browser makes to a host. When it is closed another one takes over, where it was.
//
// Without a secure connection, and in some frames, tabs cannot agree on one. Then each has a stream of its own, and only
// while it is seen: six of them would be all the connections there are.
import { BASE_PATH, BASE_URL, PAGE_HEADER } from "../api/client.ts";
import { follow, type StreamState } from "./follow.ts";
import type { Changes } from "./live.ts";

export type Told =
  | { readonly kind: "changes"; readonly changes: Changes }
  | { readonly kind: "state"; readonly state: StreamState };

/** Among tabs; with the last message that was seen, for whoever takes over. */
type Passed = { readonly told: Told | null; readonly lastId: string | null } | "how is it?";

/** `session`: streams of different people have nothing to do with each other. Returns what ends it. */
export function openStream(session: string, tell: (told: Told) => void): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  tell({ kind: "state", state: "connecting" });
  const name = `posthorn-live:${BASE_PATH}:${PAGE_HEADER["posthorn-dashboard"]}:${session}`;
  if (typeof BroadcastChannel === "undefined" || navigator.locks === undefined) holdWhileSeen(tell, signal);
  else holdOrListen(name, tell, signal);
  return () => controller.abort();
}

function holdOrListen(name: string, tell: (told: Told) => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(name);
  signal.addEventListener("abort", () => channel.close());
  let lastId: string | null = null;
  let holds: StreamState | null = null;
  const pass = (told: Told | null) => {
    if (signal.aborted) return;
    if (told?.kind === "state") holds = told.state;
    if (told !== null) tell(told);
    channel.postMessage({ told, lastId } satisfies Passed);
  };
  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if (data === "how is it?") {
      if (holds !== null)
        channel.postMessage({ told: { kind: "state", state: holds }, lastId } satisfies Passed);
      return;
    }
    lastId = data.lastId;
    if (data.told !== null) tell(data.told);
  };
  channel.postMessage("how is it?" satisfies Passed);
  const hold = () => read(lastId, (id) => (lastId = id), pass, signal);
  navigator.locks.request(name, { signal }, hold).catch(() => {
    if (!signal.aborted) holdWhileSeen(tell, signal);
  });
}

function holdWhileSeen(tell: (told: Told) => void, signal: AbortSignal): void {
  let lastId: string | null = null;
  let current: AbortController | null = null;
  const look = () => {
    if (document.visibilityState === "hidden") {
      current?.abort();
      current = null;
    } else if (current === null) {
      current = new AbortController();
      const seen = AbortSignal.any([signal, current.signal]);
      void read(
        lastId,
        (id) => (lastId = id),
        (told) => told !== null && tell(told),
        seen,
      );
    }
  };
  document.addEventListener("visibilitychange", look, { signal });
  look();
}

function read(
  lastId: string | null,
  onId: (id: string) => void,
  pass: (told: Told | null) => void,
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
    onState: (state) => pass({ kind: "state", state }),
    onMessage: ({ id, event, data }) => {
      if (id !== null) onId(id);
      pass(event === "changes" ? { kind: "changes", changes: JSON.parse(data) as Changes } : null);
    },
  });
}

/** Until then, or until the browser is on a network again. */
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
