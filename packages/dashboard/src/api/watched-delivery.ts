// A delivery with its attempts, refetched when it changes.
import type { Delivery, DeliveryDetail } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Changes, useLive } from "../live/live.ts";
import { api } from "./client.ts";

/** Polls as well: changes during the first request, and pages without a stream, would be missed. */
const LOOK_EVERY_MS = 2_000;

/** Null watches nothing. */
export function useWatchedDelivery(id: string | null) {
  const queries = useQueryClient();
  const onChanges = useCallback(
    ({ deliveries }: Changes) => {
      if (deliveries.some((delivery) => delivery.id === id))
        void queries.invalidateQueries({ queryKey: ["delivery", id] });
    },
    [id, queries],
  );
  useLive(onChanges);
  return useQuery<DeliveryDetail>({
    queryKey: ["delivery", id],
    queryFn: ({ signal }) => api.deliveries.get({ delivery: id ?? "", signal }),
    enabled: id !== null,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isFinished(data) ? false : LOOK_EVERY_MS,
  });
}

export function isFinished({ state }: Delivery): boolean {
  return state === "success" || state === "dead";
}
