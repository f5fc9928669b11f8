// One shared timer for all relative times on the page; stopped while none is shown.
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

export function onTick(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    // the time was not updated while the timer was stopped
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, TICK_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function tickedAt(): number {
  return now;
}
