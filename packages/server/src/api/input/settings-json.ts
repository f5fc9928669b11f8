// Parses the JSON body of an operation. Rejects what JavaScript would silently ignore (duplicate names and `__proto__`)
// and lists that would take too long to validate.
import { isOpaqueField, namesWritten } from "@posthorn/wire";
import { DUPLICATE_FIELD, invalidBody } from "../http-error.ts";
import { parseJson } from "../middleware/read-body.ts";
import { pointerTo } from "./issues.ts";

/** More than any valid body has; each invalid item takes the schema about 5 µs. */
export const MAX_LIST_ITEMS = 10_000;

export function parseSettings(bytes: Buffer): unknown {
  const body = parseJson(bytes);
  const { names, items, droppedAt } = survey(body);
  if (names !== namesWritten(bytes)) throw invalidBody([{ pointer: "", message: DUPLICATE_FIELD }]);
  if (droppedAt !== null)
    throw invalidBody([{ pointer: droppedAt, message: `"${DROPPED}" is not allowed as a name. Remove it.` }]);
  if (items > MAX_LIST_ITEMS) {
    const message = `The lists have ${items} items in total. Send at most ${MAX_LIST_ITEMS} at once.`;
    throw invalidBody([{ pointer: "", message }]);
  }
  return body;
}

const DROPPED = "__proto__";
/** Their names are the caller's, but the schema would drop that one. */
const MAPS: ReadonlySet<string> = new Set(["headers", "envelope_fields", "scheme_secrets"]);

interface Survey {
  names: number;
  /** Items of lists that the schema validates. */
  items: number;
  droppedAt: string | null;
}

interface Place {
  readonly value: object;
  readonly pointer: string;
  /** The content is defined by the caller and not checked here. */
  readonly isOpaque: boolean;
}

/** Iterative, because the depth has not been checked yet. */
function survey(body: unknown): Survey {
  const found: Survey = { names: 0, items: 0, droppedAt: null };
  const open: Place[] = isNested(body) ? [{ value: body, pointer: "", isOpaque: false }] : [];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, pointer, isOpaque } = place;
    const isList = Array.isArray(value);
    const names = Object.keys(value);
    if (!isList) found.names += names.length;
    else if (!isOpaque) found.items += names.length;
    if (!isList && !isOpaque && Object.hasOwn(value, DROPPED)) found.droppedAt = `${pointer}/${DROPPED}`;
    for (const name of names) {
      const inner = (value as Record<string, unknown>)[name];
      if (!isNested(inner)) continue;
      const isOwn = isOpaque || (isOpaqueField(name) && !MAPS.has(name));
      open.push({ value: inner, pointer: pointer + pointerTo([name]), isOpaque: isOwn });
    }
  }
  return found;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
