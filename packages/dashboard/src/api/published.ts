// Whether any event has been published. Until then the overview links to the getting-started page.
import { useQuery } from "@tanstack/react-query";
import { isPublished } from "../format/first-run.ts";
import { api } from "./client.ts";

/** Enough to find a published event among the test events that each start of a development server sends. */
const NEWEST = 50;
const REFRESH_MS = 5_000;

export function newestEvents(signal: AbortSignal) {
  return api.events.list({ query: { limit: NEWEST }, signal });
}

/** Undefined until loaded. */
export function useHasPublished(): boolean | undefined {
  const { data } = useQuery({
    queryKey: ["events", "newest"],
    queryFn: ({ signal }) => newestEvents(signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isPublished) ? false : REFRESH_MS),
  });
  return data?.data.some(isPublished);
}
