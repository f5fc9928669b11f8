// Says what is going on, but only when it takes long enough for someone to wonder.

export type OnProgress = (message: string) => void;

const firstAfterMs = 1_000;
const thenEveryMs = 5_000;

export async function withProgress<T>(
  /** A function where there is more to say by and by. */
  message: string | (() => string),
  onProgress: OnProgress | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (!onProgress) return work();
  const startedAt = performance.now();
  let timer = setTimeout(report, firstAfterMs);
  function report(): void {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const said = typeof message === "string" ? message : message();
    onProgress?.(seconds > 1 ? `${said} (${seconds} s)` : said);
    timer = setTimeout(report, thenEveryMs);
  }
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
