// The text of exported rows: NDJSON, or CSV as in RFC 4180.
import type { ExportFormat } from "@posthorn/client";

/** A value that is JSON already, because its bytes must not change. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface RowWriter {
  readonly contentType: string;
  /** The text before the first row. */
  readonly head: string;
  readonly line: (row: Readonly<Record<string, unknown>>) => string;
}

/** `columns` are the names of the fields in their order; a row may lack some. */
export function rowWriter(format: ExportFormat, columns: readonly string[]): RowWriter {
  if (format === "ndjson") return { contentType: "application/x-ndjson", head: "", line: ndjsonLine };
  return {
    contentType: "text/csv; charset=utf-8; header=present",
    head: csvLine(columns),
    line: (row) => csvLine(columns.map((name) => row[name])),
  };
}

function ndjsonLine(row: Readonly<Record<string, unknown>>): string {
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
