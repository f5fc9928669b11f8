// Formatting of the results.
import { cpus } from "node:os";

/** Aligns all columns except the first to the right. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, column) =>
        column === 0 ? (cells[column] ?? "").padEnd(width) : (cells[column] ?? "").padStart(width),
      )
      .join("  ")
      .trimEnd();
  return [line(head), widths.map((width) => "─".repeat(width)).join("──"), ...rows.map(line)].join("\n");
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function milliseconds(value: number): string {
  return value.toFixed(1);
}

export function orDash(value: number | null, show: (value: number) => string): string {
  return value === null || Number.isNaN(value) ? "–" : show(value);
}

export function machineLine(postgresVersion: string): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || "unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  return `${processors.length} cores (${model}) · Node ${process.versions.node} · PostgreSQL ${postgresVersion} · ${date}`;
}
