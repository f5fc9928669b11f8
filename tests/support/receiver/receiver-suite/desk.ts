// A receiver on a store, in one mode, with handlers that leave effects one can count.
import {
  type Context,
  createReceiver,
  type FailureInfo,
  type MessageInfo,
  type Mode,
  type Receiver,
  type ReceiverOptions,
  type RejectedRequest,
  type StandardSchema,
  standardWebhooks,
  type WebhookEvent,
} from "@posthorn/receiver";
import { expect } from "vitest";
import { type Delivery, type DeliveryGiven, NOW, secret, signedDelivery } from "../signed-delivery.ts";
import { DAY_MS, type StoreWorld } from "../store-world.ts";
import { type WatchedStore, watchStore } from "../watch-store.ts";

export type AnyReceiver = Receiver<unknown, Record<string, unknown>>;
type AnyOptions = Partial<ReceiverOptions<unknown, Record<string, StandardSchema>>>;

export interface Desk {
  readonly mode: Mode;
  readonly world: StoreWorld;
  /** Handlers get a `tx`. */
  readonly hasTransactions: boolean;
  readonly watched: WatchedStore<unknown>;
  /** Of handlers that came to their end, committed where there are transactions. */
  effects(): Promise<string[]>;
  /** How often a handler was called, by the event's id. */
  calls(id: string): number;
  /** What handlers do before they leave their effect; replace it. */
  work: (event: WebhookEvent, context: Context<unknown>) => unknown;
  readonly refused: RejectedRequest[];
  readonly conflicts: MessageInfo[];
  readonly failures: FailureInfo[];
  readonly dead: FailureInfo[];
  /** Started, with `standardWebhooks` as its source, unless told; its handler is for these types, or for all. */
  receiver(options?: AnyOptions, types?: readonly string[]): Promise<AnyReceiver>;
  /** Sends it and returns the answer. */
  send(delivery: Delivery | DeliveryGiven, receiver?: AnyReceiver): Promise<Sent>;
  /** Sends it again and again until it is a duplicate of something done. */
  untilDone(delivery: Delivery, receiver?: AnyReceiver): Promise<void>;
  close(): Promise<void>;
}

export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function openDesk(world: StoreWorld, mode: Mode): Desk {
  const watched = watchStore(world.store);
  const counts = new Map<string, number>();
  const inMemory: string[] = [];
  const receivers: AnyReceiver[] = [];
  const hasTransactions = mode !== "lease" && world.store.transactions !== null;
  let update: AnyReceiver | undefined;

  const handle = async (event: WebhookEvent, context: Context<unknown>) => {
    counts.set(event.id, (counts.get(event.id) ?? 0) + 1);
    await desk.work(event, context);
    if (hasTransactions) await world.effects?.write(context.tx, event.id);
    else inMemory.push(event.id);
  };

  const desk: Desk = {
    mode,
    world,
    hasTransactions,
    watched,
    effects: async () => (hasTransactions ? ((await world.effects?.read()) ?? []) : [...inMemory]),
    calls: (id) => counts.get(id) ?? 0,
    work: () => {},
    refused: [],
    conflicts: [],
    failures: [],
    dead: [],

    async receiver(options = {}, types) {
      const receiver = createReceiver({
        sources: [standardWebhooks({ secrets: [secret] })],
        store: watched.store,
        mode,
        clock: () => NOW,
        inbox: { pollMs: 10 },
        onRejected: (refusal) => desk.refused.push(refusal),
        onConflict: (conflict) => desk.conflicts.push(conflict),
        onFailure: (failure) => desk.failures.push(failure),
        onDead: (failure) => desk.dead.push(failure),
        ...options,
      }) as AnyReceiver;
      if (types === undefined) receiver.fallback(handle);
      for (const type of types ?? []) receiver.on(type, handle);
      if (mode === "inbox") await receiver.start();
      receivers.push(receiver);
      return receiver;
    },

    async send(given, receiver) {
      update ??= receiver ?? (await desk.receiver());
      const delivery = "method" in given ? given : await signedDelivery(given);
      const { status, headers, body } = await (receiver ?? update).receive(delivery);
      return { status, headers, body: body === "" ? null : JSON.parse(body) };
    },

    async untilDone(delivery, receiver) {
      const sentAgain = async () => {
        const { status, headers, body } = await desk.send(delivery, receiver);
        return [status, headers["posthorn-duplicate"], body];
      };
      // While it waits in the inbox it is a duplicate too; that it is done is seen by its effect.
      await expect
        .poll(sentAgain, { interval: 5, timeout: 10_000 })
        .toEqual([200, "true", { status: "duplicate" }]);
    },

    async close() {
      watched.failWith(null);
      for (const receiver of receivers) await receiver.stop();
      await world.close();
    },
  };
  return desk;
}

/** Waits for what a worker does by itself. */
export async function eventually<Value>(read: () => Value | Promise<Value>, expected: Value): Promise<void> {
  await expect.poll(read, { interval: 5, timeout: 10_000 }).toEqual(expected);
}

export const WINDOW_MS = 30 * DAY_MS;

export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
