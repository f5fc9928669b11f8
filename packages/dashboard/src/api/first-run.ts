// State of the getting-started page. It is derived from the server, so it survives a reload.
import type { Delivery } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Example, exampleOf, type Progress, progressOf } from "../format/first-run.ts";
import { useLive } from "../live/live.ts";
import { api } from "./client.ts";
import { newestEvents } from "./published.ts";

const KEY = "first-run";
const MAX_ITEMS = 50;

export interface FirstRun {
  readonly progress: Progress;
  readonly example: Example;
  /** The delivery of the sent event; null if there is none. */
  readonly arriving: Delivery | null;
  /** The newest delivery to the user's own endpoint. */
  readonly toOwn: Delivery | null;
  /** Whether any delivery to it has succeeded. */
  readonly hasReachedOwn: boolean;
}

export function useFirstRun() {
  const queries = useQueryClient();
  const refresh = useCallback(() => queries.invalidateQueries({ queryKey: [KEY] }), [queries]);
  const query = useQuery({ queryKey: [KEY, "state"], queryFn: ({ signal }) => look(signal) });
  const isFinished = query.data?.arriving?.state === "success" && query.data.hasReachedOwn;
  // when all steps are done, a busy installation must not cause a request per change
  useLive(useCallback(() => void (isFinished || refresh()), [isFinished, refresh]));
  return { ...query, refresh };
}

async function look(signal: AbortSignal): Promise<FirstRun> {
  const [system, tenants, endpoints, events, types] = await Promise.all([
    api.system.get({ signal }),
    api.tenants.list({ query: { limit: 1 }, signal }),
    api.endpoints.listAll({ query: { limit: MAX_ITEMS }, signal }),
    newestEvents(signal),
    api.eventTypes.list({ query: { limit: MAX_ITEMS }, signal }),
  ]);
  const progress = progressOf({
    hasSink: system.has_sink,
    tenants: tenants.data,
    endpoints: endpoints.data,
    events: events.data,
  });
  const { sent, own } = progress;
  const [event, newest, succeeded] = await Promise.all([
    sent && api.events.get({ event: sent.id, signal }),
    own && api.deliveries.list({ query: { endpoint: own.id, limit: 1 }, signal }),
    own && api.deliveries.list({ query: { endpoint: own.id, state: "success", limit: 1 }, signal }),
  ]);
  const deliveries = event?.deliveries ?? [];
  return {
    progress,
    example: exampleOf(types.data),
    arriving: deliveries.find(({ state }) => state === "success") ?? deliveries[0] ?? null,
    toOwn: newest?.data[0] ?? null,
    hasReachedOwn: succeeded !== null && succeeded.data.length > 0,
  };
}
