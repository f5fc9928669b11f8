// Runs a script on either client, recognized by its methods, with a time limit: a client that waits for its server to
// come back would keep the sender waiting too.

/** The client of `ioredis`, and its cluster. */
export interface IoredisClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The client of `redis` (4 and later), its pool and its cluster. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: ScriptOptions): Promise<unknown>;
  eval(script: string, options: ScriptOptions): Promise<unknown>;
}

interface ScriptOptions {
  keys: string[];
  arguments: string[];
}

export type RedisClient = IoredisClient | NodeRedisClient;

/** A script and the digest that Redis knows it by. */
export interface Script {
  readonly source: string;
  readonly sha1: Promise<string>;
}

export function script(source: string): Script {
  let sha1: Promise<string> | null = null;
  return {
    source,
    get sha1() {
      sha1 ??= sha1Hex(source);
      return sha1;
    },
  };
}

/** Runs a script. Arguments and results are strings or numbers. */
export type RunScript = (script: Script, ...values: (string | number)[]) => Promise<unknown>;

export function scriptRunner(client: RedisClient, key: string, timeoutMs: number): RunScript {
  const evaluate = evaluator(client, key);
  return async (wanted, ...values) => {
    const args = values.map(String);
    const sha1 = await wanted.sha1;
    return await within(timeoutMs, async () => {
      try {
        return await evaluate.bySha1(sha1, args);
      } catch (error) {
        // A server that was restarted or failed over has no scripts.
        if (!String((error as Error)?.message).startsWith("NOSCRIPT")) throw error;
        return await evaluate.bySource(wanted.source, args);
      }
    });
  };
}

interface Evaluator {
  bySha1(sha1: string, args: string[]): Promise<unknown>;
  bySource(source: string, args: string[]): Promise<unknown>;
}

function evaluator(client: RedisClient, key: string): Evaluator {
  if (typeof client !== "object" || client === null) throw notAClient();
  if ("evalSha" in client && typeof client.evalSha === "function") {
    return {
      bySha1: (sha1, args) => client.evalSha(sha1, { keys: [key], arguments: args }),
      bySource: (source, args) => client.eval(source, { keys: [key], arguments: args }),
    };
  }
  if ("evalsha" in client && typeof client.evalsha === "function") {
    return {
      bySha1: (sha1, args) => client.evalsha(sha1, 1, key, ...args),
      bySource: (source, args) => client.eval(source, 1, key, ...args),
    };
  }
  throw notAClient();
}

function notAClient(): TypeError {
  return new TypeError("redisStore needs a client from ioredis, or from redis 4 or newer.");
}

async function within(timeoutMs: number, act: () => Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new Error(
          `Redis did not respond within ${timeoutMs} ms. Check that it is reachable and the client is connected.`,
        ),
      );
    }, timeoutMs);
  });
  try {
    return await Promise.race([act(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** SHA-1, because Redis identifies scripts by it; security does not depend on it. */
async function sha1Hex(source: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(source));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
