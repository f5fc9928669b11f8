// What a store's tests need around it, and the messages they put into it.
import { createHash, randomUUID } from "node:crypto";
import type { Claim, ClaimOptions, Message, Store } from "@posthorn/receiver";

export interface StoreWorld<Tx = unknown> {
  /** Empty, and ready for use. */
  readonly store: Store<Tx>;
  /** Everything in the store becomes so much older: leases end, windows pass. Production code has no clock to move. */
  makeOlder(ms: number): Promise<void>;
  /** Rows or keys kept, subjects among them. */
  rows(): Promise<number>;
  /** A handler's own writes, in the store's transactions. */
  readonly effects?: Effects<Tx>;
  /** How another process opens the same store. */
  readonly secondProcess?: SecondProcess;
  close(): Promise<void>;
}

export interface Effects<Tx> {
  write(tx: Tx, effect: string): Promise<void>;
  /** All that were committed. */
  read(): Promise<string[]>;
  /** A write that succeeds and makes the commit fail, such as one that breaks a deferred constraint. */
  breakCommit(tx: Tx): Promise<void>;
}

export interface SecondProcess {
  /** Of a file that exports `openStore(args)` (see `OpenStore`). */
  readonly moduleUrl: string;
  readonly args: readonly string[];
}

/** In the other process. */
export type OpenStore = (args: readonly string[]) => Promise<{
  readonly store: Store;
  writeEffect?(tx: unknown, effect: string): Promise<void>;
}>;

export interface StoreFeatures {
  readonly transactions: boolean;
  readonly processes: boolean;
  /** The same statements as by pg: what goes by a library of its own is the transaction, and how values travel. */
  readonly isByLibrary?: boolean;
  /** What is past the window is gone without a prune. */
  readonly forgetsByItself?: boolean;
}

export const DAY_MS = 86_400_000;
export const LEASE_MS = 60_000;
export const WINDOW_MS = 30 * DAY_MS;
export const terms: ClaimOptions = { leaseMs: LEASE_MS, windowMs: WINDOW_MS, order: null };
/** Sequence guard that waits a minute after a gap. */
export const ordered: ClaimOptions = { ...terms, order: { gapWaitMs: 60_000 } };
export const orderedWithoutWait: ClaimOptions = { ...terms, order: { gapWaitMs: 0 } };

/** A message with an id of its own unless told. */
export function messageWith(given: Partial<Message> & { readonly text?: string } = {}): Message {
  const { text = '{"total":1}', ...fields } = given;
  const body = new TextEncoder().encode(text);
  return {
    source: "shop",
    id: `evt_${randomUUID()}`,
    digest: createHash("sha256").update(body).digest("hex"),
    type: "order.paid",
    subject: null,
    sequence: null,
    createdAt: new Date("2026-01-02T03:04:05.678Z"),
    headers: { "content-type": "application/json" },
    body,
    ...fields,
  };
}

/** Claims what is expected to be free. */
export async function claimed(store: Store, message: Message, given = terms): Promise<Claim> {
  const result = await store.claim(message, given);
  if (result.kind !== "claimed") throw new Error(`The message ${message.id} is ${result.kind}, not free.`);
  return result.claim;
}

export async function makeDead(store: Store, message: Message, error = "no such product"): Promise<void> {
  await store.fail(await claimed(store, message), { error, next: { kind: "dead" } });
}

export function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
