// Retries deliveries, one or many, and says what became of it.
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts, useTexts } from "../app/texts.ts";
import { say, sayError } from "../components/toasts.tsx";
import { api } from "./client.ts";

const texts = defineTexts({
  en: {
    retried: (count: number) => (count === 1 ? "It is being sent again." : `${count} are being sent again.`),
  },
  de: { retried: (count: number) => (count === 1 ? "Wird neu gesendet." : `${count} werden neu gesendet.`) },
});

const AT_A_TIME = 4;

export function useRetry(): (ids: readonly string[]) => Promise<void> {
  const t = useTexts(texts);
  const queries = useQueryClient();
  return async (ids) => {
    const waiting = [...ids];
    let done = 0;
    let refusal: unknown;
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        try {
          await api.deliveries.retry({ delivery: id });
          done += 1;
        } catch (error) {
          refusal = error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, ids.length) }, work));
    if (done > 0) say(t.retried(done));
    if (refusal !== undefined) sayError(refusal);
    await queries.invalidateQueries();
  };
}
