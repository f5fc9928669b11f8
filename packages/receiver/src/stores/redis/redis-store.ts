// The store in Redis. Handlers write elsewhere, so there is no shared transaction: after a crash between a handler's
// effect and the completion, the effect repeats.
import { decode, encode } from "@posthorn/wire";
import { type Message, type MessageKey, messageName } from "../../model.ts";
import { rejectUnknownOptions, wholeNumber } from "../../options.ts";
import type { AcceptResult, Claim, ClaimOptions, ClaimResult, DeadLetter, Store } from "../../store.ts";
import { MAX_ERROR_LENGTH, resultOf } from "../results.ts";
import { type RedisClient, scriptRunner } from "./client.ts";
import { scripts } from "./scripts.ts";

export interface RedisStoreOptions {
  /** The prefix of all keys, in braces. Default `posthorn:receiver`. Stores with different prefixes share nothing. */
  readonly prefix?: string;
  /** How long an operation may take before it fails. Default 5 seconds. */
  readonly timeoutMs?: number;
}

export const redisStoreOptionNames = ["prefix", "timeoutMs"] as const satisfies (keyof RedisStoreOptions)[];

/** 15 seconds at most with the default time-out, within the default lease. After the lease the script writes nothing. */
const COMPLETE_TRIES = 3;
/** Time for a broken connection to be restored. */
const PAUSE_MS = 100;

/** Requires Redis 5 or later: earlier versions do not let a script write after it has read the time. */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store<never> {
  rejectUnknownOptions("redisStore", options, redisStoreOptionNames);
  const { prefix = "posthorn:receiver", timeoutMs = 5_000 } = options;
  if (!/^[^{}]+$/.test(prefix)) {
    throw new TypeError(`prefix must be a non-empty string without braces, not ${JSON.stringify(prefix)}.`);
  }
  const run = scriptRunner(client, `{${prefix}}`, wholeNumber("timeoutMs", timeoutMs, 1, 600_000));
  /** Runs a script that returns 1 if it changed the message. */
  const changes = async (script: string, key: MessageKey, ...values: (string | number)[]) =>
    Number(await run(script, messageName(key), ...values)) === 1;

  return {
    transactions: null,

    /** Creates nothing, but rejects a server that evicts keys, because it would lose acknowledged messages. */
    async migrate() {
      const policy = String(await run(scripts.eviction));
      if (!policy.startsWith("allkeys")) return;
      throw new Error(
        `This Redis evicts keys when its memory is full (maxmemory-policy ${policy}), including acknowledged messages. Set the policy to noeviction, or use another Redis.`,
      );
    },

    async claim(message, { leaseMs, windowMs, order }) {
      const token = crypto.randomUUID();
      const values = [...messageValues(message), token, leaseMs, windowMs, gapWaitOf(order)];
      const [kind, number] = texts(await run(scripts.claim, ...values));
      if (kind === "claimed") return { kind, claim: { message, token, failures: Number(number) } };
      return resultOf<ClaimResult>(kind, number);
    },

    renew: ({ message, token }, leaseMs) => changes(scripts.renew, message, token, leaseMs),

    /** The effect has happened and would repeat if the completion were lost, so a lost reply is requested again. */
    async complete({ message, token }) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await changes(scripts.complete, message, token, attempt);
        } catch (error) {
          if (attempt === COMPLETE_TRIES) throw error;
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
      }
    },

    fail({ message, token }, { error, next }) {
      const state = { release: "failed", retry: "waiting", dead: "dead" }[next.kind];
      const afterMs = next.kind === "retry" ? next.afterMs : 0;
      return changes(scripts.fail, message, token, state, afterMs, error.slice(0, MAX_ERROR_LENGTH));
    },

    async accept(message, { windowMs }) {
      const [kind, number] = texts(await run(scripts.accept, ...messageValues(message), windowMs));
      return resultOf<AcceptResult>(kind, number);
    },

    claimDue: async (limit, options) =>
      claimsOf(await run(scripts.claimDue, ...claimingValues(options), limit)),

    async claimOne(key, options) {
      const reply = await run(scripts.claimOne, ...claimingValues(options), messageName(key));
      return claimsOf(reply)[0] ?? null;
    },

    deadLetters: {
      async list({ limit, after }) {
        const position = after ? [messageName(after.message), after.diedAt.getTime()] : ["", ""];
        return lettersOf(await run(scripts.listDead, limit, ...position));
      },
      count: async () => Number(await run(scripts.countDead)),
      requeue: (key) => changes(scripts.requeue, key),
      undoRequeue: (key) => changes(scripts.undoRequeue, key),
      discard: (key) => changes(scripts.discard, key),
    },

    /** All rows that a prune would delete have a time to live. */
    prune: async () => 0,
  };
}

/** Subject and sequence are empty for messages without ordering. */
function messageValues(message: Message): string[] {
  const { source, subject, sequence, digest } = message;
  const isInSubject = subject !== null && sequence !== null;
  const ordering = isInSubject ? [JSON.stringify([source, subject]), String(sequence)] : ["", ""];
  return [messageName(message), digest, ...ordering, writeRecord(message)];
}

function claimingValues({ leaseMs, windowMs, order }: ClaimOptions): (string | number)[] {
  return [leaseMs, windowMs, gapWaitOf(order), crypto.randomUUID()];
}

function gapWaitOf(order: ClaimOptions["order"]): number {
  return order === null ? -1 : order.gapWaitMs;
}

function texts(reply: unknown): string[] {
  return (reply as unknown[]).map(String);
}

function claimsOf(reply: unknown): Claim[] {
  return inGroupsOf(3, texts(reply)).map(([record = "", token = "", failures]) => ({
    message: readRecord(record),
    token,
    failures: Number(failures),
  }));
}

function lettersOf(reply: unknown): DeadLetter[] {
  return inGroupsOf(4, texts(reply)).map(([record = "", failures, error = "", at]) => ({
    message: readRecord(record),
    failures: Number(failures),
    error,
    diedAt: new Date(Number(at)),
  }));
}

function inGroupsOf(size: number, values: readonly string[]): string[][] {
  return Array.from({ length: values.length / size }, (_, at) => values.slice(at * size, (at + 1) * size));
}

/** A message is one string, because a client may only handle strings: the body is base64. */
function writeRecord(message: Message): string {
  const { body, createdAt, ...rest } = message;
  return JSON.stringify({ ...rest, createdAt: createdAt?.getTime() ?? null, body: encode("base64", body) });
}

function readRecord(text: string): Message {
  const { body, createdAt, ...rest } = JSON.parse(text);
  const bytes = decode("base64", body) as Uint8Array<ArrayBuffer>;
  return { ...rest, createdAt: createdAt === null ? null : new Date(createdAt), body: bytes };
}
