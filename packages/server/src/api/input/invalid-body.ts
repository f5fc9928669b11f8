// The refusal of a body, with every place that is wrong.
import { MAX_PROBLEMS } from "posthorn/internal";
import { HttpError, type ProblemPlace } from "../http-error.ts";

export const GIVEN_TWICE = "A field is given twice. Give each field once.";

function whereOf(place: ProblemPlace): string {
  if ("header" in place) return `${place.header}: `;
  return "pointer" in place && place.pointer !== "" ? `${place.pointer}: ` : "";
}

export function invalidBody(places: readonly ProblemPlace[]): HttpError {
  const [first] = places;
  const others = places.length > MAX_PROBLEMS ? "" : `${places.length - 1} `;
  const where = first === undefined ? "" : whereOf(first);
  const more = places.length > 1 ? ` And ${others}more; see errors.` : "";
  return new HttpError("invalid_body", `${where}${first?.message}${more}`, { places });
}
