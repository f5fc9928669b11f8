// What happens, as it happens. Of all tabs of a browser one holds the stream and tells the others, so that ten of them
// cost as much as one, and none of the few connections a browser makes to a host. A stream that breaks is opened again,
// and goes on where it was.
import type { Delivery, Event } from "@posthorn/client";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { BASE_PATH, BASE_URL, PAGE_HEADER } from "../api/client.ts";
import { takeMessages } from "./event-stream.ts";

/** An event that no endpoint wanted. */
export type UnwantedEvent = Pick<
  Event,
  "id" | "tenant" | "type" | "api_version" | "subject" | "sequence" | "created_at"
>;

export interface Changes {
  readonly deliveries: readonly Delivery[];
  readonly events: readonly UnwantedEvent[];
  /** More has happened than is told. */
  readonly is_partial: boolean;
}

export type LiveState = "connecting" | "live" | "lost";

type Told =
  | { readonly kind: "changes"; readonly changes: Changes }
  | { readonly kind: "state"; readonly state: LiveState }
  /** Of a tab that has just come: whoever holds the stream tells how it is. */
  | { readonly kind: "ask" };

const NAME = `posthorn-live:${BASE_PATH}:${PAGE_HEADER["posthorn-dashboard"]}`;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

const listeners = new Set<(changes: Changes) => void>();
const watchers = new Set<() => void>();
let state: LiveState = "connecting";
let close: (() => void) | undefined;

function tell(told: Told): void {
  if (told.kind === "changes") for (const listener of listeners) listener(told.changes);
  if (told.kind === "state") {
    state = told.state;
    for (const watcher of watchers) watcher();
  }
}

/** As long as anybody on this page listens. */
function open(): () => void {
  const controller = new AbortController();
  const channel = new BroadcastChannel(NAME);
  let isHolder = false;
  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.kind !== "ask") tell(data);
    else if (isHolder) channel.postMessage({ kind: "state", state });
  };
  const tellAll = (told: Told) => {
    if (controller.signal.aborted) return;
    tell(told);
    channel.postMessage(told);
  };
  const hold = () => {
    isHolder = true;
    return follow(tellAll, controller.signal);
  };
  tell({ kind: "state", state: "connecting" });
  channel.postMessage({ kind: "ask" });
  // without a secure connection there are no locks: then each tab has a stream of its own
  if (navigator.locks === undefined) void hold();
  else navigator.locks.request(NAME, { signal: controller.signal }, hold).catch(() => {});
  return () => {
    controller.abort();
    channel.close();
  };
}

async function follow(tellAll: (told: Told) => void, signal: AbortSignal): Promise<void> {
  let lastId: string | null = null;
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    tellAll({ kind: "state", state: lastId === null ? "connecting" : "lost" });
    try {
      for await (const { id, changes } of read(lastId, signal, () =>
        tellAll({ kind: "state", state: "live" }),
      )) {
        lastId = id;
        waitMs = FIRST_WAIT_MS;
        if (changes !== null) tellAll({ kind: "changes", changes });
      }
    } catch {
      // it broke: below it is waited, and opened again
    }
    if (signal.aborted) return;
    tellAll({ kind: "state", state: "lost" });
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    lastId ??= String(Date.now() - waitMs);
  }
}

async function* read(lastId: string | null, signal: AbortSignal, onOpen: () => void) {
  const response = await fetch(`${BASE_URL}/live`, {
    headers: {
      accept: "text/event-stream",
      ...PAGE_HEADER,
      ...(lastId !== null && { "last-event-id": lastId }),
    },
    credentials: "same-origin",
    signal,
  });
  if (!response.ok || response.body === null)
    throw new Error(`The stream was refused with ${response.status}.`);
  onOpen();
  yield { id: lastId ?? String(Date.now()), changes: null };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { messages, rest } = takeMessages(text + value);
    text = rest;
    for (const { id, event, data } of messages) {
      if (event === "changes") yield { id: id ?? lastId ?? "", changes: JSON.parse(data) as Changes };
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function join(): void {
  close ??= open();
}

function leave(): void {
  if (listeners.size > 0 || watchers.size > 0) return;
  close?.();
  close = undefined;
}

/** Null: nothing of it matters here. */
export function useLive(onChanges: ((changes: Changes) => void) | null): void {
  const latest = useRef(onChanges);
  useEffect(() => {
    latest.current = onChanges;
  });
  const isListening = onChanges !== null;
  useEffect(() => {
    if (!isListening) return;
    const listener = (changes: Changes) => latest.current?.(changes);
    listeners.add(listener);
    join();
    return () => {
      listeners.delete(listener);
      leave();
    };
  }, [isListening]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      join();
      return () => {
        watchers.delete(watcher);
        leave();
      };
    },
    () => state,
  );
}
