// Reads a JSON body by the schema of its operation. Unknown fields are rejected.
import type { Operation } from "@posthorn/client";
import { z } from "zod";
import type { Exchange } from "../exchange.ts";
import { invalidBody } from "../http-error.ts";
import { readJsonBytes } from "../middleware/read-body.ts";
import { fieldErrors, fieldsAt } from "./issues.ts";
import { parseSettings } from "./settings-json.ts";

/** Maximum body size of operations that do not set their own, except publishing. */
const MAX_SETTINGS_BYTES = 256 * 1024;

export async function readBody(
  exchange: Exchange,
  operation: Operation,
  schema: z.ZodType,
): Promise<unknown> {
  const isEmpty = operation.isBodyOptional === true && hasNoBody(exchange);
  const body = isEmpty
    ? {}
    : parseSettings(await readJsonBytes(exchange, operation.maxBodyBytes ?? MAX_SETTINGS_BYTES));
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const shown = operation.response.schema === null ? [] : fieldsAt(operation.response.schema, []);
  throw invalidBody(fieldErrors(schema, result.error.issues, shown));
}

/** Rejects the fields of a body sent to an operation without a body, because they would be ignored. */
export async function refuseBody(exchange: Exchange, operation: Operation): Promise<void> {
  await readBody(exchange, { ...operation, isBodyOptional: true }, NO_FIELDS);
}

const NO_FIELDS = z.strictObject({});

function hasNoBody({ request: { headers } }: Exchange): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}
