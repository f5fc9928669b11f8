// State of the getting-started page. It is derived from the server, so it survives a reload.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { exampleOf, isPublished, progressOf } from "../format/first-run.ts";
import { useLive } from "../live/live.ts";
import { api } from "./client.ts";
import { useApi } from "./use-api.ts";

const KEY = "first-run";
const MAX_ITEMS = 50;

export function useFirstRun() {
  const queries = useQueryClient();
  const query = useQuery({ queryKey: [KEY], queryFn: ({ signal }) => loadFirstRun(signal) });
  const isFinished = query.data?.arriving?.state === "success" && query.data.hasReachedOwn;
  // when all steps are done, a busy installation must not cause a request per change
  useLive(() => void (isFinished || queries.invalidateQueries({ queryKey: [KEY] })));
  return query;
}

async function loadFirstRun(signal: AbortSignal) {
  const [system, tenants, endpoints, events, types] = await Promise.all([
    api.system.get({ signal }),
    api.tenants.list({ query: { limit: 1 }, signal }),
    api.endpoints.listAll({ query: { limit: MAX_ITEMS }, signal }),
    api.events.list({ ...NEWEST_EVENTS, signal }),
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
    /** The delivery of the sent event. */
    arriving: deliveries.find(({ state }) => state === "success") ?? deliveries[0] ?? null,
    /** The newest delivery to the user's own endpoint. */
    toOwn: newest?.data[0] ?? null,
    hasReachedOwn: succeeded !== null && succeeded.data.length > 0,
  };
}

/** Enough to find a published event among the test events that each start of a development server sends. */
const NEWEST_EVENTS = { query: { limit: 50 } };
const REFRESH_MS = 5_000;

/** Whether any event has been published, undefined until loaded. Until then the overview links to the getting-started page. */
export function useHasPublished(): boolean | undefined {
  const { data } = useApi("events.list", NEWEST_EVENTS, {
    refetchInterval: ({ state }) => (state.data?.data.some(isPublished) ? false : REFRESH_MS),
  });
  return data?.data.some(isPublished);
}
