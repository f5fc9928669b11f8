// Submits a form, keeps its validation problems, and reloads what the page shows.
import { PosthornApiError } from "@posthorn/client/web";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { showError } from "../components/ui/toasts.tsx";
import { type Problems, problemsOf } from "../format/problems.ts";

export interface Submission {
  readonly isBusy: boolean;
  readonly problems: Problems;
  /**
   * Returns true on success, when everything on the page is reloaded. Field problems are kept for the form, other errors
   * are shown as a toast. Ignored while a submission is running, so a double click submits once.
   */
  readonly submit: (act: () => Promise<unknown>) => Promise<boolean>;
}

export function useSubmission(): Submission {
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isRunning = useRef(false);
  return {
    isBusy,
    problems: problemsOf(error),
    submit: async (act) => {
      if (isRunning.current) return false;
      isRunning.current = true;
      setBusy(true);
      setError(null);
      try {
        await act();
        await queries.invalidateQueries();
        return true;
      } catch (cause) {
        setError(cause);
        // a changed resource may be why the server rejected it
        if (cause instanceof PosthornApiError) void queries.invalidateQueries();
        const hasPointers = cause instanceof PosthornApiError && cause.problem.errors !== undefined;
        if (!hasPointers) showError(cause);
        return false;
      } finally {
        isRunning.current = false;
        setBusy(false);
      }
    },
  };
}
