// A receiver in one mode on a store, with handlers that leave countable effects, and a way to run tests on all of them.
import {
  type Context,
  createReceiver,
  type FailureInfo,
  type Mode,
  type Receiver,
  type ReceiverOptions,
  type RejectedRequest,
  type StandardSchema,
  standardWebhooks,
  type WebhookEvent,
} from "@posthorn/receiver";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { sharePicker } from "../matrix.ts";
import { findProgram, startRedisServer, withoutRedis } from "../processes/system-programs.ts";
import { openMemoryWorld } from "./memory-world.ts";
import { openPool, openPostgres } from "./postgres-world.ts";
import { openRedisWorld } from "./redis-world.ts";
import { type Delivery, type DeliveryOptions, NOW, secret, signedDelivery } from "./signed-delivery.ts";
import { openSqliteWorld } from "./sqlite-world.ts";
import type { StoreWorld } from "./store-world.ts";
import { watchStore } from "./watch-store.ts";

export type AnyReceiver = Receiver<unknown, Record<string, unknown>>;
type AnyOptions = Partial<ReceiverOptions<unknown, Record<string, StandardSchema>>>;

export type Harness = ReturnType<typeof openHarness>;

export function openHarness(world: StoreWorld, mode: Mode) {
  const watched = watchStore(world.store);
  const counts = new Map<string, number>();
  const inMemory: string[] = [];
  const receivers: AnyReceiver[] = [];
  const hasTransactions = mode !== "lease" && world.store.transactions !== null;
  let usual: AnyReceiver | undefined;

  const handle = async (event: WebhookEvent, context: Context<unknown>) => {
    counts.set(event.id, (counts.get(event.id) ?? 0) + 1);
    await harness.work(event, context);
    if (hasTransactions) await world.effects?.write(context.tx, event.id);
    else inMemory.push(event.id);
  };

  const harness = {
    mode,
    world,
    /** Handlers get a `tx`. */
    hasTransactions,
    watched,
    /** The effects of completed handlers; with transactions, those that were committed. */
    effects: async () => (hasTransactions ? ((await world.effects?.read()) ?? []) : [...inMemory]),
    /** How often a handler was called, by the event's id. */
    calls: (id: string) => counts.get(id) ?? 0,
    /** Runs in handlers before they write their effect; replace it. */
    work: (_event: WebhookEvent, _context: Context<unknown>): unknown => undefined,
    rejected: [] as RejectedRequest[],
    failures: [] as FailureInfo[],
    dead: [] as FailureInfo[],

    /** Starts a receiver whose handler is for these types, or for all. */
    async receiver(options: AnyOptions = {}, types?: readonly string[]): Promise<AnyReceiver> {
      const receiver = createReceiver({
        sources: [standardWebhooks({ secrets: [secret] })],
        store: watched.store,
        mode,
        clock: () => NOW,
        inbox: { pollMs: 10 },
        onRejected: (rejection) => harness.rejected.push(rejection),
        onFailure: (failure) => harness.failures.push(failure),
        onDead: (failure) => harness.dead.push(failure),
        ...options,
      }) as AnyReceiver;
      if (types === undefined) receiver.fallback(handle);
      for (const type of types ?? []) receiver.on(type, handle);
      if (mode === "inbox") await receiver.start();
      receivers.push(receiver);
      return receiver;
    },

    async send(options: Delivery | DeliveryOptions, receiver?: AnyReceiver) {
      usual ??= receiver ?? (await harness.receiver());
      const delivery = "method" in options ? options : await signedDelivery(options);
      const { status, headers, body } = await (receiver ?? usual).receive(delivery);
      return { status, headers, body: body === "" ? null : JSON.parse(body) };
    },

    /** Sends it repeatedly until it is a duplicate of a done message. */
    async untilDone(delivery: Delivery, receiver?: AnyReceiver): Promise<void> {
      const sentAgain = async () => {
        const { status, headers, body } = await harness.send(delivery, receiver);
        return [status, headers["posthorn-duplicate"], body];
      };
      // A message that waits in the inbox is a duplicate too; its effect shows that it is done.
      await expect.poll(sentAgain, { interval: 5 }).toEqual([200, "true", { status: "duplicate" }]);
    },

    async close(): Promise<void> {
      watched.failWith(null);
      for (const receiver of receivers) await receiver.stop();
      await world.close();
    },
  };
  return harness;
}

/** Registers the tests for every store in each mode it allows. In `npm test` each mode runs a third of them. */
export function describeReceivers(tests: (current: () => Harness) => void): void {
  const everyMode = ["transactional", "lease", "inbox"] as const;
  describeModes("memory", openMemoryWorld, ["lease", "inbox"], 0, tests);
  describeModes("PostgreSQL", openPostgres(openPool), everyMode, 0, tests);
  describeModes("SQLite", () => openSqliteWorld("libsql"), everyMode, 1, tests);
  const program = findProgram("redis-server") as string;
  describe.skipIf(program === null)(`with a Redis server (${withoutRedis})`, () => {
    let server: Awaited<ReturnType<typeof startRedisServer>>;
    beforeAll(async () => {
      server = await startRedisServer(program);
    });
    afterAll(() => server.close());
    describeModes("Redis", () => openRedisWorld("ioredis", server.path), ["lease", "inbox"], 2, tests);
  });
}

function describeModes<Tx>(
  name: string,
  open: () => Promise<StoreWorld<Tx>>,
  modes: readonly Mode[],
  offset: number,
  tests: (current: () => Harness) => void,
): void {
  describe.each(modes.map((mode, at) => [mode, at] as const))(`${name}, mode %s`, (mode, at) => {
    let harness: Harness;
    const isPicked = sharePicker({ index: at + offset, of: 3 });
    beforeEach(async ({ skip }) => {
      if (!isPicked()) skip();
      harness = openHarness((await open()) as StoreWorld, mode);
      return () => harness.close();
    });
    tests(() => harness);
  });
}
