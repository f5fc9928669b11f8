// Redacts what was requested for the audit log, in the names of the API.
import { isObject, isOpaqueField, parseUrl, snakeCase } from "@posthorn/wire";

/** Converts input of the library to the names of the API, without what would be redacted anyway. */
export function toApiNames(value: unknown, field = "", level = 0): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (level > MAX_DEPTH) return REDACTED;
  if (Array.isArray(value))
    return value.slice(0, MAX_ITEMS).map((item) => toApiNames(item, field, level + 1));
  if (!isObject(value) || isOpaqueField(field)) return value;
  const entries = Object.entries(value).filter(
    ([, inner]) => inner !== undefined && typeof inner !== "function",
  );
  return Object.fromEntries(
    entries.map(([name, inner]) => [snakeCase(name), toApiNames(inner, name, level + 1)]),
  );
}

const DATA_FIELDS = ["data", "data_json"];

/** Leaves out the data of a test or edited event: the event itself keeps it, with redaction. */
export function withoutData(body: unknown): unknown {
  if (!isObject(body)) return body;
  const given = DATA_FIELDS.filter((name) => name in body);
  return { ...body, ...Object.fromEntries(given.map((name) => [name, REDACTED])) };
}

/** Returns the key's id. If the caller gave a whole key by mistake, its secret part is redacted. */
export function redactKey(given: string): string {
  const [, id, kind, idOfText] = /^(?:([0-9A-Za-z]{10})|(ph[kt])_([0-9A-Za-z]{10})_.*)$/.exec(given) ?? [];
  if (id !== undefined) return id;
  return kind === undefined ? REDACTED : `${kind}_${idOfText}_${REDACTED}`;
}

const REDACTED = "…";
const SECRET_FIELDS = new Set(["secret", "key", "password", "token"]);
/** Fields whose members are all redacted. */
const REDACTED_WITHIN = new Set(["headers", "scheme_secrets"]);
const MAX_TEXT_LENGTH = 1_000;
const MAX_ITEMS = 100;
/** Deeper than any valid body; an invalid one may have a hundred thousand levels. */
const MAX_DEPTH = 80;
/** Bounds the JSON of an entry, because a page has up to 250 of them. */
const MAX_ENTRY_BYTES = 16 * 1024;

interface ByteBudget {
  bytes: number;
}

/** Returns a copy without secrets, header values, and the credentials and query of URLs, cut to the size limits. */
export function withoutSecrets(
  value: unknown,
  field = "",
  level = 0,
  budget: ByteBudget = { bytes: MAX_ENTRY_BYTES },
): unknown {
  if (level > MAX_DEPTH) return REDACTED;
  if (typeof value === "string") return fitted(field === "url" ? withoutCredentials(value) : value, budget);
  if (typeof value !== "object" || value === null) {
    budget.bytes -= String(value).length;
    return value;
  }
  if (Array.isArray(value))
    return Array.from(fitting(value, budget), (item) => withoutSecrets(item, field, level + 1, budget));
  const entries = Array.from(fitting(Object.entries(value), budget), ([name, inner]) => [
    fitted(name, budget),
    SECRET_FIELDS.has(name) || REDACTED_WITHIN.has(field)
      ? REDACTED
      : withoutSecrets(inner, name, level + 1, budget),
  ]);
  return Object.fromEntries(entries);
}

/** Yields items until the byte budget is used up. */
function* fitting<Item>(items: readonly Item[], budget: ByteBudget): Generator<Item> {
  for (const item of items.slice(0, MAX_ITEMS)) {
    if (budget.bytes <= 0) return;
    budget.bytes -= 2; // brackets and commas
    yield item;
  }
}

function fitted(text: string, budget: ByteBudget): string {
  const length = Math.min(MAX_TEXT_LENGTH, Math.max(budget.bytes, 0));
  // last, because cutting may split a surrogate pair
  const shown = storable(text.length > length ? `${text.slice(0, length)}${REDACTED}` : text);
  budget.bytes -= Buffer.byteLength(JSON.stringify(shown));
  return shown;
}

/** PostgreSQL stores neither NUL nor an unpaired surrogate. */
function storable(text: string): string {
  return Buffer.from(text).toString().replaceAll("\0", "\ufffd");
}

function withoutCredentials(text: string): string {
  const url = parseUrl(text);
  if (url === null) return REDACTED;
  const { protocol, host, pathname, search } = url;
  return `${protocol}//${host}${pathname}${search === "" ? "" : `?${REDACTED}`}`;
}
