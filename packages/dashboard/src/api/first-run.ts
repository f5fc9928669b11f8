// What the first-run screen needs to know. All of it is the server's, so that whoever comes back sees what is done.
import type { Delivery } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Example, exampleOf, type Progress, progressOf } from "../format/first-run.ts";
import { useLive } from "../live/live.ts";
import { api } from "./client.ts";
import { newestEvents } from "./published.ts";

const KEY = "first-run";
const MOST = 50;

export interface FirstRun {
  readonly progress: Progress;
  readonly example: Example;
  /** The delivery of the event that was sent; null: there is none, or it went to nobody. */
  readonly arriving: Delivery | null;
  /** The newest delivery to one's own endpoint. */
  readonly toOwn: Delivery | null;
  /** Whether any has ever arrived there. */
  readonly hasReachedOwn: boolean;
}

export function useFirstRun() {
  const queries = useQueryClient();
  const refresh = useCallback(() => queries.invalidateQueries({ queryKey: [KEY] }), [queries]);
  const query = useQuery({ queryKey: [KEY, "state"], queryFn: ({ signal }) => look(signal) });
  const isOver = query.data?.arriving?.state === "success" && query.data.hasReachedOwn;
  // on a busy installation something happens all the time, and whoever is through needs none of it
  useLive(useCallback(() => void (isOver || refresh()), [isOver, refresh]));
  return { ...query, refresh };
}

async function look(signal: AbortSignal): Promise<FirstRun> {
  const [system, tenants, endpoints, events, types] = await Promise.all([
    api.system.get({ signal }),
    api.tenants.list({ query: { limit: 1 }, signal }),
    api.endpoints.listAll({ query: { limit: MOST }, signal }),
    newestEvents(signal),
    api.eventTypes.list({ query: { limit: MOST }, signal }),
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
