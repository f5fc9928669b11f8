// The text of exported rows: NDJSON, or CSV as in RFC 4180.
import type { ExportFormat } from "@posthorn/client";
import { z } from "zod";
import { unwrapped } from "./input/issues.ts";

/** A value that is JSON already, because its bytes must not change. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Row = Readonly<Record<string, unknown>>;

interface Column {
  readonly name: string;
  readonly path: readonly string[];
}

export interface RowWriter {
  readonly contentType: string;
  /** The text before the first row. */
  readonly head: string;
  readonly line: (row: Row) => string;
}

/** A row may lack some of the fields. */
export function rowWriter(format: ExportFormat, schema: z.ZodObject): RowWriter {
  const columns = columnsOf(schema);
  if (format === "ndjson") return { contentType: "application/x-ndjson", head: "", line: ndjsonLine };
  return {
    contentType: "text/csv; charset=utf-8; header=present",
    head: csvLine(columns.map(({ name }) => name)),
    line: (row) => csvLine(columns.map(({ path }) => valueAt(row, path))),
  };
}

/** An object with known fields has a column for each of them: `waits_for_reason`. */
function columnsOf(schema: z.ZodObject, above: readonly string[] = []): readonly Column[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const path = [...above, name];
    const inner = unwrapped(field);
    return inner instanceof z.ZodObject ? columnsOf(inner, path) : [{ name: path.join("_"), path }];
  });
}

function valueAt(row: Row, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Row | null | undefined)?.[name], row);
}

function ndjsonLine(row: Row): string {
  const members = Object.entries(row).flatMap(([name, value]) =>
    value === undefined ? [] : `${JSON.stringify(name)}:${jsonOf(value)}`,
  );
  return `{${members.join(",")}}\n`;
}

function jsonOf(value: unknown): string {
  return value instanceof RawJson ? value.text : JSON.stringify(value);
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(",")}\r\n`;
}

/**
 * Spreadsheets run a cell that begins with one of these as a formula. The apostrophe makes it text; a tab, CR or LF would
 * otherwise hide the character after it.
 */
const FORMULA = /^[=+\-@\t\r\n]/;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = textOf(value);
  // every text is quoted: a spreadsheet may split at semicolons too
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value instanceof Date ? value.toISOString() : jsonOf(value);
}
