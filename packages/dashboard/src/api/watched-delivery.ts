// A delivery with its attempts, looked at again whenever something has happened to it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Changes, useLive } from "../live/live.ts";
import { api } from "./client.ts";

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
  return useQuery({
    queryKey: ["delivery", id],
    queryFn: ({ signal }) => api.deliveries.get({ delivery: id ?? "", signal }),
    enabled: id !== null,
  });
}
