// The JSON text of an event's data, byte for byte: the client would parse it, and lose 1.0 and large integers.
import type { EventDetail } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { BASE_URL, PAGE_HEADER } from "./client.ts";

/** The event may be undefined until it is loaded. */
export function useEventDataText(event: EventDetail | undefined) {
  return useQuery({
    queryKey: ["event-data", event?.id],
    enabled: event !== undefined,
    staleTime: "static",
    queryFn: async ({ signal }) => {
      // text and bytes are strings in the API, and come as they are from the route
      if (event?.attributes?.encoding !== undefined) return JSON.stringify(event.data);
      const answer = await fetch(`${BASE_URL}/event-data/${event?.id}`, { headers: PAGE_HEADER, signal });
      if (!answer.ok) throw new Error(`The data could not be loaded: HTTP ${answer.status}.`);
      return await answer.text();
    },
  });
}
