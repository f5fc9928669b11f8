// Formatting of the results.
import { cpus } from "node:os";

/** Aligns all columns except the first to the right. Returns null without rows. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string | null {
  if (rows.length === 0) return null;
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

/** Shows figures that are not available, which are NaN, as a dash. */
const orDash = (show: (value: number) => string) => (value: number) =>
  Number.isNaN(value) ? "–" : show(value);

export const whole = orDash((value) => Math.round(value).toLocaleString("en-US"));
export const milliseconds = orDash((value) => value.toFixed(1));
export const ratio = orDash((value) => value.toFixed(2));
export const percent = orDash((value) => `${Math.round(value * 100)} %`);

export function progress(text: string): void {
  console.error(text);
}

export function machineLine(postgresVersion: string): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || "unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  return `${processors.length} cores (${model}) · Node ${process.versions.node} · PostgreSQL ${postgresVersion} · ${date}`;
}
