// Tables that fit the terminal: ids are never cut, long text is.
import type { Terminal } from "./terminal.ts";
import { clean, type Tone, toned } from "./text.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => unknown;
  readonly tone?: (row: Row) => Tone | null;
  /** The column may be cut if the line is too long. */
  readonly canShrink?: boolean;
}

const GAP = "  ";
const MIN_WIDTH = 8;

export function table<Row>(
  terminal: Pick<Terminal, "columns" | "hasColors">,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): string {
  const cells = rows.map((row) => columns.map(({ value }) => shown(value(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => lengthOf(row[index] ?? ""))),
  );
  const fitted = fit(widths, columns, terminal.columns);
  const line = (texts: readonly string[], paint: (text: string, index: number) => string): string =>
    texts
      .map((text, index) => paint(padded(text, fitted[index] ?? 0, index === texts.length - 1), index))
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      (text) => toned(terminal, "quiet", text),
    ),
    ...cells.map((row, at) =>
      line(row, (text, index) => toned(terminal, columns[index]?.tone?.(rows[at] as Row) ?? null, text)),
    ),
  ].join("\n");
}

/** Prints name and value pairs, one per line. */
export function facts(
  terminal: Pick<Terminal, "hasColors">,
  pairs: readonly (readonly [name: string, value: unknown])[],
): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs
    .map(([name, value]) => `${toned(terminal, "quiet", name.padEnd(width))}${GAP}${shown(value)}`)
    .join("\n");
}

/** Prints a row as pairs of column title and value. */
export function columnFacts<Row>(
  terminal: Pick<Terminal, "hasColors">,
  columns: readonly Column<Row>[],
  row: Row,
): string {
  const pairs = columns.map(({ title, value }) => [title.toLowerCase(), value(row)] as const);
  return facts(terminal, pairs);
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  return clean(typeof value === "object" ? JSON.stringify(value) : value);
}

function fit<Row>(
  widths: readonly number[],
  columns: readonly Column<Row>[],
  available: number | null,
): number[] {
  const fitted = [...widths];
  if (available === null) return fitted;
  let excess = fitted.reduce((sum, width) => sum + width, GAP.length * (fitted.length - 1)) - available;
  while (excess > 0) {
    const candidates = fitted.map((width, index) => (columns[index]?.canShrink ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    const cut = Math.min(excess, (candidates[widest] ?? 0) - MIN_WIDTH);
    if (cut <= 0) break;
    fitted[widest] = (fitted[widest] ?? 0) - cut;
    excess -= cut;
  }
  return fitted;
}

function padded(text: string, width: number, isLast: boolean): string {
  const length = lengthOf(text);
  if (length > width) return `${[...text].slice(0, width - 1).join("")}…`;
  return isLast ? text : text + " ".repeat(width - length);
}

function lengthOf(text: string): number {
  return [...text].length;
}
