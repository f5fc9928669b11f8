// Options of a source: a table, or messages in the write-ahead log, of another PostgreSQL database.
import { refuseUnknown } from "../did-you-mean.ts";
import {
  invalid,
  type NumericOption,
  type OptionCheck,
  oneOf,
  readNumbers,
  shown,
} from "../option-checks.ts";

export interface SourceOptions {
  /** Up to 40 characters of a-z 0-9 _. It is part of the idempotency keys, so a new name publishes every row again. */
  readonly name: string;
  /** `replication` follows the write-ahead log; `polling` reads a table in the order of `columns.updatedAt` and `columns.id`. */
  readonly kind: "replication" | "polling";
  /** Connection string. Default: Posthorn's own database. */
  readonly database?: string | undefined;
  /** `schema.table`, or a table in `public`. Without it, replication reads messages only. */
  readonly table?: string | undefined;
  /** The columns of the table. */
  readonly columns?: SourceColumns | undefined;
  /** The same for every row, in place of a column. */
  readonly values?: SourceValues | undefined;
  /** Only rows with these values are published, by column; compared as text. Default: every row. */
  readonly filter?: Readonly<Record<string, FilterValue | readonly FilterValue[]>> | undefined;
  /** Prefix of `pg_logical_emit_message`, for replication. Default: messages are ignored. */
  readonly messagePrefix?: string | undefined;
  /** Default `posthorn_` and the name. */
  readonly publication?: string | undefined;
  /** Replication slot, created when it is missing at the first start. Default `posthorn_` and the name. */
  readonly slot?: string | undefined;
  /**
   * The slot is dropped if it retains more write-ahead log than this without progress for 10 seconds, or twice as much in
   * any case. Default 10 737 418 240.
   */
  readonly maxLagBytes?: number | undefined;
  /** How often a table is polled. Default 1 000. */
  readonly intervalMs?: number | undefined;
  /** A polled row is read when it is this old: more than the clocks of those who write `updatedAt` differ. Default 1 000. */
  readonly delayMs?: number | undefined;
}

export interface SourceColumns {
  /** Identifies the row: there is one event for each id. */
  readonly id: string;
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  /** JSON: of the type json or jsonb, or text. */
  readonly data: string;
  readonly apiVersion?: string | undefined;
  /** For polling: a timestamp that the transaction sets when it writes the row. */
  readonly updatedAt?: string | undefined;
}

export interface SourceValues {
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  readonly apiVersion?: string | undefined;
}

export type FilterValue = string | number | boolean;

export type SourceConfig = ReturnType<typeof resolveSource>;
/** A table with its mapping. */
export type SourceTable = NonNullable<SourceConfig["table"]>;

const numbers = {
  maxLagBytes: { min: 1_048_576, max: Number.MAX_SAFE_INTEGER, default: 10 * 1024 ** 3 },
  intervalMs: { min: 100, max: 3_600_000, default: 1_000 },
  delayMs: { min: 0, max: 3_600_000, default: 1_000 },
} satisfies Partial<Record<keyof SourceOptions, NumericOption>>;

const ofTables = ["table", "columns", "values", "filter"];
const ofEveryKind = ["name", "kind", "database", ...ofTables];
const ofKind = {
  polling: [...ofEveryKind, "intervalMs", "delayMs"],
  replication: [...ofEveryKind, "messagePrefix", "publication", "slot", "maxLagBytes"],
};
const columnNames = ["id", "tenant", "type", "subject", "data", "apiVersion", "updatedAt"];
const valueNames = ["tenant", "type", "apiVersion"];

export function resolveSources(
  check: OptionCheck,
  sources: readonly SourceOptions[] | undefined,
): readonly SourceConfig[] {
  if (sources === undefined) return [];
  if (!Array.isArray(sources)) throw invalid(`sources must be a list; it is ${shown(sources)}.`);
  const resolved = sources.flatMap((source) =>
    check.read("sources", () => [resolveSource(check, source)], []),
  );
  const names = resolved.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`sources has two sources named "${twice}". Rename one of them.`);
  return resolved;
}

function resolveSource(check: OptionCheck, options: SourceOptions) {
  const name = readName(options);
  const place = `sources.${name}`;
  const kind = oneOf(`${place}.kind`, options.kind, ["replication", "polling"]);
  refuseUnknown(`A source of kind ${kind} has no option`, options, ofKind[kind]);
  const table = readTable(options, place);
  const messagePrefix = options.messagePrefix ?? null;
  if (messagePrefix !== null) identifier(`${place}.messagePrefix`, messagePrefix);
  if (table === null && (kind === "polling" || messagePrefix === null)) {
    throw invalid(`${place} needs table${kind === "polling" ? "" : ", messagePrefix or both"}.`);
  }
  const { database } = options;
  if (database !== undefined && (typeof database !== "string" || !/^postgres(ql)?:\/\//.test(database))) {
    throw invalid(`${place}.database must be a URL such as postgresql://user:password@host:5432/database.`);
  }
  return {
    name,
    kind,
    database: database ?? null,
    table,
    messagePrefix,
    publication: identifier(`${place}.publication`, options.publication ?? `posthorn_${name}`),
    slot: readSlot(`${place}.slot`, options.slot ?? `posthorn_${name}`),
    ...readNumbers(check, options, numbers, `${place}.`),
  };
}

function readName(options: SourceOptions): string {
  if (typeof options !== "object" || options === null) {
    throw invalid(`sources must be a list of objects; it has ${shown(options)}.`);
  }
  if (typeof options.name === "string" && /^[a-z0-9_]{1,40}$/.test(options.name)) return options.name;
  throw invalid(
    `The name of a source must be 1 to 40 characters of a-z 0-9 _; it is ${shown(options.name)}.`,
  );
}

function readTable({ kind, table, columns, values, filter }: SourceOptions, place: string) {
  if (table === undefined) {
    if ((columns ?? values ?? filter) === undefined) return null;
    throw invalid(`${place} has columns, values or filter, so it needs table.`);
  }
  const [, schema = "public", name] =
    /^(?:([^.]+)\.)?([^.]+)$/.exec(identifier(`${place}.table`, table)) ?? [];
  if (name === undefined) throw invalid(`${place}.table must be schema.table; it is ${shown(table)}.`);
  if (typeof columns !== "object" || columns === null) {
    throw invalid(`${place}.columns is missing: name at least the columns id and data.`);
  }
  refuseUnknown(`${place}.columns has no column`, columns, columnNames);
  refuseUnknown(`${place}.values has no value`, values ?? {}, valueNames);
  for (const [key, column] of Object.entries({ ...columns, ...values }))
    if (column !== undefined) identifier(`${place}.${key}`, column);
  const required = ["id", "data", ...(kind === "polling" ? ["updatedAt"] : [])] as const;
  for (const key of required)
    if (columns[key as keyof SourceColumns] === undefined)
      throw invalid(`${place}.columns.${key} is missing.`);
  for (const key of ["tenant", "type", "apiVersion"] as const) {
    if (columns[key] !== undefined && values?.[key] !== undefined)
      throw invalid(`${place} has ${key} in columns and in values. Keep one of them.`);
    if (key !== "apiVersion" && (columns[key] ?? values?.[key]) === undefined)
      throw invalid(`${place} needs ${key} in columns or in values.`);
  }
  return { schema, name, columns, values: values ?? {}, filter: readFilter(filter ?? {}, place) };
}

/** Allowed texts by column. */
function readFilter(
  filter: NonNullable<SourceOptions["filter"]>,
  place: string,
): ReadonlyMap<string, readonly string[]> {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    throw invalid(`${place}.filter must be an object of columns and their values.`);
  }
  return new Map(
    Object.entries(filter).map(([column, allowed]) => [
      column,
      (Array.isArray(allowed) ? allowed : [allowed]).map((value: unknown) =>
        filterText(value, `${place}.filter: "${column}"`),
      ),
    ]),
  );
}

/** As PostgreSQL sends it: `t` and `f` for boolean. */
function filterText(value: unknown, place: string): string {
  if (typeof value === "boolean") return value ? "t" : "f";
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw invalid(`${place} must be text, a number, true, false, or a list of these; it has ${shown(value)}.`);
}

function identifier(place: string, value: unknown): string {
  if (typeof value === "string" && value !== "" && value.length <= 128 && !/\p{Cc}/u.test(value))
    return value;
  throw invalid(`${place} must be text of 1 to 128 characters; it is ${shown(value)}.`);
}

/** PostgreSQL allows no other names of slots. */
function readSlot(place: string, slot: unknown): string {
  if (typeof slot === "string" && /^[a-z0-9_]{1,63}$/.test(slot)) return slot;
  throw invalid(`${place} must be 1 to 63 characters of a-z 0-9 _; it is ${shown(slot)}.`);
}
