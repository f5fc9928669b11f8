// A delivery with its attempts, refetched when it changes, and its retry.
import type { Delivery } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { defineTexts } from "../app/texts.ts";
import { showError, showToast } from "../components/ui/toasts.tsx";
import { useLive } from "../live/live.ts";
import { api } from "./client.ts";
import { apiKey, useApi } from "./use-api.ts";

const t = defineTexts({
  retried: ["Retry started.", "Erneuter Versuch gestartet."],
});

/** Polls as well: changes during the first request, and pages without a stream, would be missed. */
const POLL_MS = 2_000;

/** Null watches nothing. */
export function useWatchedDelivery(id: string | null) {
  const queries = useQueryClient();
  const input = { delivery: id ?? "" };
  useLive(({ deliveries }) => {
    if (deliveries.some((delivery) => delivery.id === id))
      void queries.invalidateQueries({ queryKey: apiKey("deliveries.get", input) });
  });
  return useApi("deliveries.get", input, {
    enabled: id !== null,
    refetchInterval: ({ state: { data } }) => (data !== undefined && isFinished(data) ? false : POLL_MS),
  });
}

export function isFinished({ state }: Delivery): boolean {
  return state === "success" || state === "dead";
}

/** Shows the result as a toast. */
export function useRetry(): (id: string) => Promise<void> {
  const queries = useQueryClient();
  const running = useRef(new Set<string>());
  return async (id) => {
    // ignores a double click
    if (running.current.has(id)) return;
    running.current.add(id);
    try {
      await api.deliveries.retry({ delivery: id });
      showToast(t.retried);
    } catch (error) {
      showError(error);
    } finally {
      running.current.delete(id);
    }
    await queries.invalidateQueries();
  };
}
