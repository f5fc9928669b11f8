// The environment of a store in tests, and the messages they put into it.
import { createHash, randomUUID } from "node:crypto";
import type { Claim, ClaimOptions, Failure, Message, Store } from "@posthorn/receiver";

export interface StoreWorld<Tx = unknown> {
  /** Empty, and ready for use. */
  readonly store: Store<Tx>;
  /** Makes everything in the store older: leases expire, windows end. */
  makeOlder(ms: number): Promise<void>;
  /** The number of rows or keys, including subjects. */
  rows(): Promise<number>;
  /** A handler's own writes, in the store's transactions. */
  readonly effects?: Effects<Tx>;
  /** How another process opens the same store. */
  readonly secondProcess?: SecondProcess;
  close(): Promise<void>;
}

export interface Effects<Tx> {
  write(tx: Tx, effect: string): Promise<void>;
  /** The committed effects. */
  read(): Promise<string[]>;
  /** A write that succeeds and makes the commit fail, such as one that breaks a deferred constraint. */
  breakCommit(tx: Tx): Promise<void>;
}

export interface SecondProcess {
  /** URL of a module that exports `openStore(args)` (see `OpenStore`). */
  readonly moduleUrl: string;
  readonly args: readonly string[];
}

/** In the other process. */
export type OpenStore = (args: readonly string[]) => Promise<{
  readonly store: Store;
  writeEffect(tx: unknown, effect: string): Promise<void>;
}>;

export interface StoreFeatures {
  readonly transactions: boolean;
  /** Another process can open the store. */
  readonly processes?: boolean;
  /** Only transactions and the encoding of values differ from pg; the statements are the same. */
  readonly isByLibrary?: boolean;
  /** Messages past the window expire without a prune. */
  readonly expiresWithoutPrune?: boolean;
}

export const DAY_MS = 86_400_000;
export const LEASE_MS = 60_000;
export const WINDOW_MS = 30 * DAY_MS;
export const defaults: ClaimOptions = { leaseMs: LEASE_MS, windowMs: WINDOW_MS, order: null };
/** Sequence guard that waits a minute after a gap. */
export const ordered: ClaimOptions = { ...defaults, order: { gapWaitMs: 60_000 } };
export const orderedWithoutWait: ClaimOptions = { ...defaults, order: { gapWaitMs: 0 } };

/** A message; by default it has a new id. */
export function messageWith(changes: Partial<Message> & { readonly text?: string } = {}): Message {
  const { text = '{"total":1}', ...fields } = changes;
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

/** Claims a message that is expected to be free. */
export async function claimed(store: Store, message: Message, options = defaults): Promise<Claim> {
  const result = await store.claim(message, options);
  if (result.kind !== "claimed") throw new Error(`The message ${message.id} is ${result.kind}, not free.`);
  return result.claim;
}

/** Accepts a message into the inbox and claims it from there. */
export async function claimAccepted(store: Store, message: Message, leaseMs = LEASE_MS): Promise<Claim> {
  await store.accept(message, defaults);
  const claim = await store.claimOne(message, { ...defaults, leaseMs });
  if (claim === null) throw new Error(`The message ${message.id} cannot be claimed.`);
  return claim;
}

/** Begins to finish a message before its short lease expires: with another one if the machine was too busy for the first. */
export async function finishUnderLease<Tx>(
  store: Store<Tx>,
  leaseMs: number,
  work: (tx: Tx, claim: Claim) => Promise<void>,
): Promise<void> {
  for (;;) {
    const claim = await claimAccepted(store, messageWith(), leaseMs);
    if (await store.transactions?.finish(claim, (tx) => work(tx, claim))) return;
    const expired = await store.claimOne(claim.message, defaults);
    if (expired !== null) await store.complete(expired);
  }
}

/** Claims a message and marks it as done. */
export async function makeDone(store: Store, message: Message, options = defaults): Promise<void> {
  const isDone = await store.complete(await claimed(store, message, options));
  if (!isDone) throw new Error(`The claim of ${message.id} was lost.`);
}

/** Claims a message, fails and releases it. */
export async function makeFailed(store: Store, message: Message, options = defaults): Promise<void> {
  await store.fail(await claimed(store, message, options), RELEASE);
}

export async function makeDead(store: Store, message: Message, error = "no such product"): Promise<void> {
  await store.fail(await claimed(store, message), { error, next: { kind: "dead" } });
}

export async function messagesInEveryState(store: Store) {
  const states = {
    running: messageWith(),
    failed: messageWith(),
    waiting: messageWith(),
    dead: messageWith(),
    done: messageWith(),
  };
  await claimed(store, states.running);
  await makeFailed(store, states.failed);
  await store.accept(states.waiting, defaults);
  await makeDead(store, states.dead);
  await makeDone(store, states.done);
  return states;
}

/** The wait that the result of a claim contains; throws if it is of another kind. */
export function waitMsOf(result: { readonly kind: string }, kind: "running" | "gap"): number {
  if (result.kind !== kind) throw new Error(`The result is ${result.kind}, not ${kind}.`);
  return (result as { readonly kind: string; readonly retryAfterMs: number }).retryAfterMs;
}

export const RELEASE: Failure = { error: "shop closed", next: { kind: "release" } };
export const DEAD: Failure = { error: "no such product", next: { kind: "dead" } };

export function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
