// Parses a body of settings, and refuses what JavaScript would pass over in silence: a name given twice, of which the
// last would count, and one that schemas drop. And lists so long that checking each item would hold everybody up.
import { namesWritten } from "@posthorn/wire";
import { parseJson } from "../middleware/read-body.ts";

import { DUPLICATE_FIELD, invalidBody } from "./invalid-body.ts";
import { pointerTo } from "./issues.ts";
import { OPAQUE_FIELDS } from "./names.ts";

/** More than fit into a body that is meant; each wrong one costs the schema about 5 µs. */
export const MAX_LIST_ITEMS = 10_000;

export function parseSettings(bytes: Buffer): unknown {
  const body = parseJson(bytes);
  const { names, items, droppedAt } = survey(body);
  if (names !== namesWritten(bytes)) throw invalidBody([{ pointer: "", message: DUPLICATE_FIELD }]);
  if (droppedAt !== null)
    throw invalidBody([{ pointer: droppedAt, message: `"${DROPPED}" cannot be a name. Leave it out.` }]);
  if (items > MAX_LIST_ITEMS) {
    const message = `The lists have ${items} items together. Send at most ${MAX_LIST_ITEMS} at once.`;
    throw invalidBody([{ pointer: "", message }]);
  }
  return body;
}

const DROPPED = "__proto__";

interface Survey {
  names: number;
  /** Of lists that a schema of ours looks into. */
  items: number;
  droppedAt: string | null;
}

interface Place {
  readonly value: object;
  readonly pointer: string;
  /** Its content is the caller's own, and nothing of it is dropped or looked into here. */
  readonly isOpaque: boolean;
}

/** Without recursion: nobody has looked at the depth yet. */
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
      const isOwn = isOpaque || (OPAQUE_FIELDS.has(name) && name !== "headers");
      open.push({ value: inner, pointer: pointer + pointerTo([name]), isOpaque: isOwn });
    }
  }
  return found;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
