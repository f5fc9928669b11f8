// What the server has against a form, each at its field.
import { PosthornApiError } from "@posthorn/client/web";

export interface Problems {
  /** What is wrong at this place of the body, or below it. */
  readonly at: (pointer: string) => string | undefined;
  readonly isAnyAt: (pointers: readonly string[]) => boolean;
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
    isAnyAt: (pointers) => pointers.some((pointer) => places.some(isAt(pointer))),
    elsewhere: (shown) =>
      places
        .filter((place) => !shown.some((pointer) => isAt(pointer)(place)))
        .map(({ pointer, message }) => (pointer === "" ? message : `${pointer}: ${message}`)),
  };
}
