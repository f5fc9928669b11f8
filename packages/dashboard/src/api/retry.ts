// Retries a delivery, and says what became of it.
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { defineTexts, useTexts } from "../app/texts.ts";
import { say, sayError } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";

const texts = defineTexts({
  en: { retried: "It is being sent again." },
  de: { retried: "Wird neu gesendet." },
});

export function useRetry(): (id: string) => Promise<void> {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const goingOn = useRef(new Set<string>());
  return async (id) => {
    // pressed twice is meant once
    if (goingOn.current.has(id)) return;
    goingOn.current.add(id);
    try {
      await api.deliveries.retry({ delivery: id });
      say(t.retried);
    } catch (error) {
      sayError(error);
    } finally {
      goingOn.current.delete(id);
    }
    await queries.invalidateQueries();
  };
}
