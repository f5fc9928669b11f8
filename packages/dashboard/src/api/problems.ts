// Submits a form and keeps its validation problems.
import { PosthornApiError } from "@posthorn/client/web";
import { useRef, useState } from "react";
import { showError } from "../components/ui/toasts.tsx";
import { type Problems, problemsOf } from "../format/problems.ts";

export interface Submission {
  readonly isBusy: boolean;
  readonly problems: Problems;
  /**
   * Returns true on success. Field problems are kept for the form, other errors are shown as a toast. Ignored while a
   * submission is running, so a double click submits once.
   */
  readonly submit: (act: () => Promise<unknown>) => Promise<boolean>;
}

export function useSubmission(): Submission {
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
        return true;
      } catch (refusal) {
        setError(refusal);
        const hasPlaces = refusal instanceof PosthornApiError && refusal.problem.errors !== undefined;
        if (!hasPlaces) showError(refusal);
        return false;
      } finally {
        isRunning.current = false;
        setBusy(false);
      }
    },
  };
}
