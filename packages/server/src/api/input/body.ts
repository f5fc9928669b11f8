// Reads a JSON body by the schema of its operation. What the schema does not know is refused, so that nobody sets what
// was not meant to be set.
import type { Operation } from "@posthorn/client";
import { MAX_PROBLEMS } from "posthorn/internal";
import type { z } from "zod";
import type { Exchange } from "../exchange.ts";
import { HttpError, type ProblemPlace } from "../http-error.ts";
import { parseJson, readJsonBytes } from "../middleware/read-body.ts";
import { fieldsAt, placesOf } from "./issues.ts";

/** Largest body of an operation that takes settings, not events. */
const MAX_SETTINGS_BYTES = 256 * 1024;

export async function readBody(
  exchange: Exchange,
  operation: Operation,
  schema: z.ZodType,
): Promise<unknown> {
  const isEmpty = operation.isBodyOptional === true && hasNoBody(exchange);
  const body = isEmpty ? {} : parseJson(await readJsonBytes(exchange, MAX_SETTINGS_BYTES));
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const shown = operation.answer.schema === null ? [] : fieldsAt(operation.answer.schema, []);
  throw invalidBody(placesOf(schema, result.error.issues, shown));
}

export function invalidBody(places: readonly ProblemPlace[]): HttpError {
  const [first] = places;
  const others = places.length > MAX_PROBLEMS ? "" : `${places.length - 1} `;
  const where = first && "pointer" in first && first.pointer !== "" ? `${first.pointer}: ` : "";
  const more = places.length > 1 ? ` And ${others}more; see errors.` : "";
  return new HttpError("invalid_body", `${where}${first?.message}${more}`, { places });
}

function hasNoBody({ request: { headers } }: Exchange): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}
