// A bar for long work: on standard error, and only where somebody watches.
import type { Terminal } from "./terminal.ts";

export interface ProgressBar {
  update(done: number, total: number | null): void;
  /** Takes the bar off the screen. */
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
