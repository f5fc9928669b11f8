// Publishes without a pause and does what the error message of an unavailable database says: publish again with the
// same idempotency key, until it is acknowledged.
import { type Posthorn, PosthornError } from "posthorn";
import { Signal } from "../support/eventually.ts";

export type Publishers = ReturnType<typeof createPublishers>;

const publishersAtOnce = 2;
/** Short enough that something is always in flight. */
const gapMs = 10;

/** Publishes nothing before `start` or `burst`. Stopping the instance ends everything that runs. */
export function createPublishers(hooks: Posthorn) {
  /** Event ids by idempotency key. */
  const acknowledged = new Map<string, string>();
  const errors: string[] = [];
  const signal = new Signal();
  let isStopped = false;
  let count = 0;
  let running: Promise<unknown> = Promise.resolve();

  const nextKey = (): string => {
    count += 1;
    return `key-${count}`;
  };

  async function publish(idempotencyKey = nextKey()): Promise<void> {
    const input = { tenant: "acme", type: "order.paid", data: idempotencyKey, idempotencyKey };
    for (;;) {
      try {
        const { id } = await hooks.publish(input);
        const before = acknowledged.get(idempotencyKey) ?? id;
        if (before !== id) throw new Error(`${idempotencyKey}: ${before} and ${id}`);
        acknowledged.set(idempotencyKey, id);
        signal.notify();
        return;
      } catch (error) {
        if (!(error instanceof PosthornError) || error.code !== "database_unavailable") throw error;
        errors.push(error.code);
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

  return {
    acknowledged,
    /** Errors after which an event was published again. */
    errors,
    start(): void {
      running = Promise.all(Array.from({ length: publishersAtOnce }, publishOn));
      running.catch(() => {}); // `more` and `stop` reject with it
    },
    /** Resolves when this many more were acknowledged. */
    async more(wanted: number): Promise<void> {
      const goal = acknowledged.size + wanted;
      const reached = signal.until(
        () => `${goal} events are acknowledged, not only ${acknowledged.size}`,
        () => acknowledged.size >= goal,
        60_000,
      );
      await Promise.race([reached, running]);
    },
    /** Many at once, more than lanes hold in memory; every second key a second time. */
    async burst(wanted: number): Promise<void> {
      const keys = Array.from({ length: wanted }, nextKey);
      const twice = keys.filter((_, index) => index % 2 === 0);
      await Promise.all([...keys, ...twice].map((key) => publish(key)));
    },
    /** Resolves when everything that was begun is acknowledged. */
    async stop(): Promise<void> {
      isStopped = true;
      await running;
    },
  };
}

// biome-ignore lint/plugin: the pace of a publisher that never waits for a condition
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, gapMs));
