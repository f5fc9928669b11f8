// A delivery with its attempts, looked at again whenever something has happened to it.
import type { Delivery, DeliveryDetail } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Changes, useLive } from "../live/live.ts";
import { api } from "./client.ts";

/** Besides: what is told while it is first read is not read again for it, and where there is no stream nothing is told. */
const LOOK_EVERY_MS = 2_000;

/** Null: there is none to watch yet. */
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
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOver(data) ? false : LOOK_EVERY_MS),
  });
}

export function isOver({ state }: Delivery): boolean {
  return state === "success" || state === "dead";
}
