// What the server has against a form, each at its field; and the one way in which a form asks, waits and tells.
import { PosthornApiError } from "@posthorn/client/web";
import { useState } from "react";
import { sayError } from "../components/toasts.tsx";

export interface Problems {
  /** What is wrong at this place of the body, or below it. */
  readonly at: (pointer: string) => string | undefined;
  /** What is wrong at no place that a field shows. */
  readonly elsewhere: (shown: readonly string[]) => readonly string[];
}

interface Place {
  readonly pointer: string;
  readonly message: string;
}

export function problemsOf(error: unknown): Problems {
  const places: readonly Place[] =
    error instanceof PosthornApiError
      ? (error.problem.errors ?? []).map(({ pointer = "", message }) => ({ pointer, message }))
      : [];
  const isAt = (pointer: string) => (place: Place) =>
    place.pointer === pointer || place.pointer.startsWith(`${pointer}/`);
  return {
    at: (pointer) => {
      const found = places.filter(isAt(pointer));
      return found.length === 0 ? undefined : found.map(({ message }) => message).join(" ");
    },
    elsewhere: (shown) =>
      places
        .filter((place) => !shown.some((pointer) => isAt(pointer)(place)))
        .map(({ pointer, message }) => (pointer === "" ? message : `${pointer}: ${message}`)),
  };
}

export interface Submission {
  readonly isBusy: boolean;
  readonly problems: Problems;
  /** True when it was done. What is refused at a place is shown there, anything else in a corner. */
  readonly submit: (act: () => Promise<unknown>) => Promise<boolean>;
}

export function useSubmission(): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  return {
    isBusy,
    problems: problemsOf(error),
    submit: async (act) => {
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
        setBusy(false);
      }
    },
  };
}
