// Reports progress of slow operations.

export type OnProgress = (message: string) => void;

const firstReportMs = 1_000;
const reportIntervalMs = 5_000;

export async function withProgress<T>(
  /** A function if the message changes over time. */
  message: string | (() => string),
  onProgress: OnProgress | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (!onProgress) return work();
  const startedAt = performance.now();
  let timer = setTimeout(report, firstReportMs);
  function report(): void {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const text = typeof message === "string" ? message : message();
    onProgress?.(seconds > 1 ? `${text} (${seconds} s)` : text);
    timer = setTimeout(report, reportIntervalMs);
  }
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
