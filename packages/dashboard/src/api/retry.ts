// Retries a delivery and shows the result as a toast.
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { defineTexts, useTexts } from "../app/texts.ts";
import { showError, showToast } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";

const texts = defineTexts({
  en: { retried: "Retry started." },
  de: { retried: "Erneuter Versuch gestartet." },
});

export function useRetry(): (id: string) => Promise<void> {
  const t = useTexts(texts);
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
