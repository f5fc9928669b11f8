// A progress bar on standard error, in interactive terminals only.
import type { Terminal } from "./terminal.ts";

export interface ProgressBar {
  update(done: number, total: number | null): void;
  /** Erases the bar. */
  end(): void;
}

const WIDTH = 24;
const ERASE = "\r\x1b[2K";

export function progressBar(terminal: Pick<Terminal, "isInteractive" | "draw">, what: string): ProgressBar {
  if (!terminal.isInteractive) return { update: () => {}, end: () => {} };
  return {
    update: (done, total) => terminal.draw(`${ERASE}${what} ${barText(done, total)}`),
    end: () => terminal.draw(ERASE),
  };
}

export function barText(done: number, total: number | null): string {
  if (total === null || total === 0) return String(done);
  const filled = Math.min(WIDTH, Math.floor((done / total) * WIDTH));
  return `[${"#".repeat(filled)}${".".repeat(WIDTH - filled)}] ${done} of ${total}`;
}
