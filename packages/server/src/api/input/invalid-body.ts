// The error for an invalid body, with every invalid field.
import { MAX_PROBLEMS } from "posthorn/internal";
import { type FieldError, HttpError } from "../http-error.ts";

export const DUPLICATE_FIELD = "A field is given twice. Give each field once.";

function locationOf(error: FieldError): string {
  if ("header" in error) return `${error.header}: `;
  return "pointer" in error && error.pointer !== "" ? `${error.pointer}: ` : "";
}

export function invalidBody(errors: readonly FieldError[]): HttpError {
  const [first] = errors;
  const others = errors.length > MAX_PROBLEMS ? "" : `${errors.length - 1} `;
  const where = first === undefined ? "" : locationOf(first);
  const more = errors.length > 1 ? ` And ${others}more; see errors.` : "";
  return new HttpError("invalid_body", `${where}${first?.message}${more}`, { fieldErrors: errors });
}
