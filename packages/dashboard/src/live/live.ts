// Live changes for components. The stream is open while at least one component listens.
import type { Delivery, Event } from "@posthorn/client";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { checkSession, sessionName, useSession } from "../api/session.ts";
import type { StreamState } from "./follow.ts";
import { openStream, type StreamUpdate } from "./shared-stream.ts";

/** An event that matched no endpoint. */
export type UnmatchedEvent = Pick<
  Event,
  "id" | "tenant" | "type" | "api_version" | "subject" | "sequence" | "created_at"
>;

export interface Changes {
  readonly deliveries: readonly Delivery[];
  readonly events: readonly UnmatchedEvent[];
  /** Further changes were left out. */
  readonly is_partial: boolean;
}

const listeners = new Set<(changes: Changes) => void>();
const watchers = new Set<() => void>();
let state: StreamState = "connecting";
let opened: { readonly session: string; readonly close: () => void } | null = null;

/** Navigation between pages must not close the stream. */
const LINGER_MS = 1_000;
let lingering: ReturnType<typeof setTimeout> | undefined;

/** Calls `onChanges` for every message; null does not listen. */
export function useLive(onChanges: ((changes: Changes) => void) | null): void {
  const session = useSessionName();
  const latest = useRef(onChanges);
  useEffect(() => {
    latest.current = onChanges;
  });
  const isListening = onChanges !== null;
  useEffect(() => {
    if (!isListening) return;
    const listener = (changes: Changes) => latest.current?.(changes);
    listeners.add(listener);
    join(session);
    return () => {
      listeners.delete(listener);
      leave();
    };
  }, [isListening, session]);
}

export function useLiveState(): StreamState {
  const session = useSessionName();
  useEffect(() => join(session), [session]);
  return useSyncExternalStore(watch, () => state);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    leave();
  };
}

/** Identifies the session, so that changes of one session are never shown in another. */
function useSessionName(): string {
  const { data } = useSession();
  return data ? sessionName(data) : "";
}

function join(session: string): void {
  clearTimeout(lingering);
  if (opened?.session === session) return;
  opened?.close();
  opened = { session, close: openStream(session, publish) };
}

function leave(): void {
  clearTimeout(lingering);
  if (listeners.size > 0 || watchers.size > 0) return;
  lingering = setTimeout(() => {
    opened?.close();
    opened = null;
  }, LINGER_MS);
}

function publish(update: StreamUpdate): void {
  if (update.kind === "changes") {
    for (const listener of listeners) listener(update.changes);
    return;
  }
  state = update.state;
  for (const watcher of watchers) watcher();
  if (state === "over") checkSession();
}
