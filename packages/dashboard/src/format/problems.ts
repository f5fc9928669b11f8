// Validation problems of a form by JSON Pointer.
import { PosthornApiError } from "@posthorn/client/web";

export interface Problems {
  /** The problems at this pointer or below. */
  readonly at: (pointer: string) => string | undefined;
  readonly isAnyAt: (pointers: readonly string[]) => boolean;
  /** The problems that no field shows. */
  readonly elsewhere: (shown: readonly string[]) => readonly string[];
}

interface Problem {
  readonly pointer: string;
  readonly message: string;
}

export function problemsOf(error: unknown): Problems {
  const problems: readonly Problem[] =
    error instanceof PosthornApiError
      ? (error.problem.errors ?? []).map(({ pointer = "", message }) => ({ pointer, message }))
      : [];
  const isAt = (pointer: string) => (problem: Problem) =>
    problem.pointer === pointer || problem.pointer.startsWith(`${pointer}/`);
  return {
    at: (pointer) => {
      const found = problems.filter(isAt(pointer));
      return found.length === 0 ? undefined : found.map(({ message }) => message).join(" ");
    },
    isAnyAt: (pointers) => pointers.some((pointer) => problems.some(isAt(pointer))),
    elsewhere: (shown) =>
      problems
        .filter((problem) => !shown.some((pointer) => isAt(pointer)(problem)))
        .map(({ pointer, message }) => (pointer === "" ? message : `${pointer}: ${message}`)),
  };
}
