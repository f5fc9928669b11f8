// The one way in which a form asks, waits, and tells what the server has against it.
import { PosthornApiError } from "@posthorn/client/web";
import { useRef, useState } from "react";
import { sayError } from "../components/ui/toasts.tsx";
import { type Problems, problemsOf } from "../format/problems.ts";

export interface Submission {
  readonly isBusy: boolean;
  readonly problems: Problems;
  /**
   * True when it was done. What is refused at a place is shown there, anything else in a corner. Whoever presses twice,
   * or holds Enter, means it once: nothing is begun while something goes on.
   */
  readonly submit: (act: () => Promise<unknown>) => Promise<boolean>;
}

export function useSubmission(): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isGoingOn = useRef(false);
  return {
    isBusy,
    problems: problemsOf(error),
    submit: async (act) => {
      if (isGoingOn.current) return false;
      isGoingOn.current = true;
      setBusy(true);
      setError(null);
      try {
        await act();
        return true;
      } catch (refusal) {
        setError(refusal);
        const hasPlaces = refusal instanceof PosthornApiError && refusal.problem.errors !== undefined;
        if (!hasPlaces) sayError(refusal);
        return false;
      } finally {
        isGoingOn.current = false;
        setBusy(false);
      }
    },
  };
}
