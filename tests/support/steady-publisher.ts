// Publishes without a pause and does what the error message of an unavailable database says: publish again with the
// same idempotency key, until it is acknowledged.
import { type Posthorn, PosthornError } from "posthorn";

export interface SteadyPublisher {
  /** Acknowledged event ids, by idempotency key. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Codes of the errors that publishers met. */
  readonly errors: ReadonlyMap<string, number>;
  /** Resolves when this many more were acknowledged. */
  more(count: number): Promise<void>;
  /** Many at once, more than lanes hold in memory; every second key a second time. */
  burst(count: number): Promise<void>;
  /** Ends when all that was begun is acknowledged. */
  stop(): Promise<void>;
  /** Ends at once: whatever the test wanted to know, it is over. */
  abandon(): void;
}

const publishersAtOnce = 4;
/** Enough to be always busy, few enough to keep a queue that is looked at from end to end. */
const gapMs = 4;

export function publishSteadily(hooks: Posthorn, tenant: string, { idle = false } = {}): SteadyPublisher {
  const acknowledged = new Map<string, string>();
  const errors = new Map<string, number>();
  const watchers = new Set<() => void>();
  let isStopped = false;
  let isAbandoned = false;
  let count = 0;

  const next = (): number => {
    count += 1;
    return count;
  };

  async function publish(number = next()): Promise<void> {
    const idempotencyKey = `key-${number}`;
    const input = { tenant, type: "order.paid", data: { number }, idempotencyKey };
    for (;;) {
      try {
        const { id } = await hooks.publish(input);
        const before = acknowledged.get(idempotencyKey);
        if (before !== undefined && before !== id) throw new Error(`${idempotencyKey}: ${before} and ${id}`);
        acknowledged.set(idempotencyKey, id);
        for (const watcher of watchers) watcher();
        return;
      } catch (error) {
        const code = error instanceof PosthornError ? error.code : String(error);
        errors.set(code, (errors.get(code) ?? 0) + 1);
        if (code !== "database_unavailable" || isAbandoned) throw error;
        await pause();
      }
    }
  }

  async function publishOn(): Promise<void> {
    while (!isStopped) {
      await publish();
      await pause();
    }
  }

  const running = Promise.all(Array.from({ length: idle ? 0 : publishersAtOnce }, publishOn));
  running.catch(() => {}); // stop() tells
  return {
    acknowledged,
    errors,
    more(wanted) {
      const goal = acknowledged.size + wanted;
      const reached = new Promise<void>((resolve) => {
        const watcher = () => {
          if (acknowledged.size < goal) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
      });
      return Promise.race([reached, running.then(() => {})]);
    },
    async burst(wanted) {
      const numbers = Array.from({ length: wanted }, next);
      const twice = numbers.filter((number) => number % 2 === 0);
      await Promise.all([...numbers, ...twice].map((number) => publish(number)));
    },
    async stop() {
      isStopped = true;
      await running;
    },
    abandon() {
      isStopped = true;
      isAbandoned = true;
    },
  };
}

// biome-ignore lint/plugin: paces the load
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, gapMs));
