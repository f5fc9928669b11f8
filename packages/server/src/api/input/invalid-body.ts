// The refusal of a body, with every place that is wrong.
import { MAX_PROBLEMS } from "posthorn/internal";
import { type FieldError, HttpError } from "../http-error.ts";

export const DUPLICATE_FIELD = "A field is given twice. Give each field once.";

function locationOf(place: FieldError): string {
  if ("header" in place) return `${place.header}: `;
  return "pointer" in place && place.pointer !== "" ? `${place.pointer}: ` : "";
}

export function invalidBody(places: readonly FieldError[]): HttpError {
  const [first] = places;
  const others = places.length > MAX_PROBLEMS ? "" : `${places.length - 1} `;
  const where = first === undefined ? "" : locationOf(first);
  const more = places.length > 1 ? ` And ${others}more; see errors.` : "";
  return new HttpError("invalid_body", `${where}${first?.message}${more}`, { places });
}
