// The store in Redis. Handlers write elsewhere, so there is no shared transaction: after a crash between a handler's
// effect and the completion, the effect repeats.
import type { Message, MessageKey } from "../../model.ts";
import { rejectUnknownOptions, wholeNumber } from "../../options.ts";
import type {
  AcceptOptions,
  AcceptResult,
  Claim,
  ClaimOptions,
  ClaimResult,
  DeadLetter,
  DeadLetterStore,
  Failure,
  Store,
} from "../../store.ts";
import { type RedisClient, type RunScript, scriptRunner } from "./client.ts";
import { readRecord, writeRecord } from "./record.ts";
import {
  acceptScript,
  claimDueScript,
  claimOneScript,
  claimScript,
  completeScript,
  countDeadScript,
  discardScript,
  evictionScript,
  failScript,
  listDeadScript,
  renewScript,
  requeueScript,
  undoRequeueScript,
} from "./scripts.ts";

export interface RedisStoreOptions {
  /** The prefix of all keys, in braces. Default `posthorn:receiver`. Stores with different prefixes share nothing. */
  readonly prefix?: string;
  /** How long an operation may take before it fails. Default 5 seconds. */
  readonly timeoutMs?: number;
}

export const redisStoreOptionNames = ["prefix", "timeoutMs"] as const satisfies (keyof RedisStoreOptions)[];

/** Requires Redis 5 or later: earlier versions do not let a script write after it has read the time. */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store<never> {
  return new RedisStore(client, options);
}

const MAX_ERROR_LENGTH = 1_000;

/** 15 seconds at most with the default time-out, within the default lease. After the lease the script writes nothing. */
const COMPLETE_TRIES = 3;
/** Time for a broken connection to be restored. */
const PAUSE_MS = 100;

class RedisStore implements Store<never> {
  readonly transactions = null;
  readonly deadLetters: DeadLetterStore;
  readonly #run: RunScript;

  constructor(client: RedisClient, options: RedisStoreOptions) {
    rejectUnknownOptions("redisStore", options, redisStoreOptionNames);
    const { prefix = "posthorn:receiver", timeoutMs = 5_000 } = options;
    if (!/^[^{}]+$/.test(prefix)) {
      throw new TypeError(`prefix must be a non-empty string without braces, not ${JSON.stringify(prefix)}.`);
    }
    this.#run = scriptRunner(client, `{${prefix}}`, wholeNumber("timeoutMs", timeoutMs, 1, 600_000));
    this.deadLetters = redisDeadLetters(this.#run);
  }

  /** Creates nothing, but rejects a server that evicts keys, because it would lose acknowledged messages. */
  async migrate(): Promise<void> {
    const policy = String(await this.#run(evictionScript));
    if (!policy.startsWith("allkeys")) return;
    throw new Error(
      `This Redis evicts keys when its memory is full (maxmemory-policy ${policy}), including acknowledged messages. Set the policy to noeviction, or use another Redis.`,
    );
  }

  async claim(message: Message, { leaseMs, windowMs, order }: ClaimOptions): Promise<ClaimResult> {
    const token = crypto.randomUUID();
    const place = [nameOf(message), message.digest, ...placeOf(message), writeRecord(message)];
    const reply = await this.#run(claimScript, ...place, token, leaseMs, windowMs, gapWaitOf(order));
    const [kind, number] = texts(reply);
    if (kind === "claimed") return { kind, claim: { message, token, tries: Number(number) } };
    return resultOf<ClaimResult>(kind, number);
  }

  async renew({ message, token }: Claim, leaseMs: number): Promise<boolean> {
    return isYes(await this.#run(renewScript, nameOf(message), token, leaseMs));
  }

  /** The effect has happened and would repeat if the completion were lost, so a lost reply is requested again. */
  async complete({ message, token }: Claim): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return isYes(await this.#run(completeScript, nameOf(message), token, attempt));
      } catch (error) {
        if (attempt === COMPLETE_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  async fail({ message, token }: Claim, { error, next }: Failure): Promise<boolean> {
    const state = { release: "failed", retry: "waiting", dead: "dead" }[next.kind];
    const afterMs = next.kind === "retry" ? next.afterMs : 0;
    const line = error.slice(0, MAX_ERROR_LENGTH);
    return isYes(await this.#run(failScript, nameOf(message), token, state, afterMs, line));
  }

  async accept(message: Message, { windowMs }: AcceptOptions): Promise<AcceptResult> {
    const place = [nameOf(message), message.digest, ...placeOf(message), writeRecord(message)];
    const [kind, number] = texts(await this.#run(acceptScript, ...place, windowMs));
    return resultOf<AcceptResult>(kind, number);
  }

  async claimDue(limit: number, { leaseMs, windowMs, order }: ClaimOptions): Promise<Claim[]> {
    const token = crypto.randomUUID();
    return claimsOf(await this.#run(claimDueScript, leaseMs, windowMs, gapWaitOf(order), token, limit));
  }

  async claimOne(key: MessageKey, { leaseMs, windowMs, order }: ClaimOptions): Promise<Claim | null> {
    const token = crypto.randomUUID();
    const reply = await this.#run(claimOneScript, leaseMs, windowMs, gapWaitOf(order), token, nameOf(key));
    return claimsOf(reply)[0] ?? null;
  }

  /** All rows that a prune would delete have a time to live. */
  async prune(): Promise<number> {
    return 0;
  }
}

function redisDeadLetters(run: RunScript): DeadLetterStore {
  return {
    async list({ limit, after }) {
      const place = after ? [nameOf(after.message), after.diedAt.getTime()] : ["", ""];
      return lettersOf(await run(listDeadScript, limit, ...place));
    },
    count: async () => Number(await run(countDeadScript)),
    requeue: async (key) => isYes(await run(requeueScript, nameOf(key))),
    undoRequeue: async (key) => isYes(await run(undoRequeueScript, nameOf(key))),
    discard: async (key) => isYes(await run(discardScript, nameOf(key))),
  };
}

function nameOf({ source, id }: MessageKey): string {
  return JSON.stringify([source, id]);
}

/** Subject and sequence; empty strings for messages without ordering. */
function placeOf({ source, subject, sequence }: Message): [subject: string, sequence: string] {
  if (subject === null || sequence === null) return ["", ""];
  return [JSON.stringify([source, subject]), String(sequence)];
}

function gapWaitOf(order: ClaimOptions["order"]): number {
  return order === null ? -1 : order.gapWaitMs;
}

function resultOf<Result>(kind: string | undefined, number: string | undefined): Result {
  const waits = kind === "running" || kind === "gap";
  return (waits ? { kind, retryAfterMs: Number(number) } : { kind }) as Result;
}

function isYes(reply: unknown): boolean {
  return Number(reply) === 1;
}

function texts(reply: unknown): string[] {
  return (reply as unknown[]).map(String);
}

function claimsOf(reply: unknown): Claim[] {
  return inGroupsOf(3, texts(reply)).map(([record = "", token = "", tries]) => ({
    message: readRecord(record),
    token,
    tries: Number(tries),
  }));
}

function lettersOf(reply: unknown): DeadLetter[] {
  return inGroupsOf(4, texts(reply)).map(([record = "", tries, error = "", at]) => ({
    message: readRecord(record),
    tries: Number(tries),
    error,
    diedAt: new Date(Number(at)),
  }));
}

function inGroupsOf(size: number, values: readonly string[]): string[][] {
  return Array.from({ length: values.length / size }, (_, at) => values.slice(at * size, (at + 1) * size));
}
