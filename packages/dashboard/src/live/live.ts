// What happens, as it happens, for any part of a page that wants to know. The stream is open as long as one does.
import type { Delivery, Event } from "@posthorn/client";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { sessionName, useSession } from "../api/session.ts";
import { lookAtSession } from "../api/session-change.ts";
import type { StreamState } from "./follow.ts";
import { openStream, type Told } from "./shared-stream.ts";

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

const listeners = new Set<(changes: Changes) => void>();
const watchers = new Set<() => void>();
let state: StreamState = "connecting";
let opened: { readonly session: string; readonly close: () => void } | null = null;

/** So that the way from one screen to the next closes nothing. */
const LINGER_MS = 1_000;
let lingering: ReturnType<typeof setTimeout> | undefined;

/** Null: nothing of it matters here. */
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

/** Whose stream it is: of nobody else is anything to be shown. */
function useSessionName(): string {
  const { data } = useSession();
  return data ? sessionName(data) : "";
}

function join(session: string): void {
  clearTimeout(lingering);
  if (opened?.session === session) return;
  opened?.close();
  opened = { session, close: openStream(session, tell) };
}

function leave(): void {
  clearTimeout(lingering);
  if (listeners.size > 0 || watchers.size > 0) return;
  lingering = setTimeout(() => {
    opened?.close();
    opened = null;
  }, LINGER_MS);
}

function tell(told: Told): void {
  if (told.kind === "changes") {
    for (const listener of listeners) listener(told.changes);
    return;
  }
  state = told.state;
  for (const watcher of watchers) watcher();
  if (state === "over") lookAtSession();
}
