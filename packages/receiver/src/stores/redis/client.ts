// Runs a script on either client, recognized by its methods, with a time limit: a client that waits for its server to
// come back would keep the sender waiting too.
import { encode } from "@posthorn/wire";
import { withTimeout } from "../../timeout.ts";

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

/** Runs a Lua script, called by its SHA-1 once the server knows it. Arguments and results are strings or numbers. */
export type RunScript = (script: string, ...values: (string | number)[]) => Promise<unknown>;

export function scriptRunner(client: RedisClient, key: string, timeoutMs: number): RunScript {
  const evaluate = evaluator(client, key);
  const digests = new Map<string, Promise<string>>();
  const late = () =>
    new Error(
      `Redis did not respond within ${timeoutMs} ms. Check that it is reachable and the client is connected.`,
    );
  return async (script, ...values) => {
    const args = values.map(String);
    const digest = digests.get(script) ?? sha1Hex(script);
    digests.set(script, digest);
    const sha1 = await digest;
    return await withTimeout(
      async () => {
        try {
          return await evaluate.bySha1(sha1, args);
        } catch (error) {
          // A server that was restarted or failed over has no scripts.
          if (!String((error as Error)?.message).startsWith("NOSCRIPT")) throw error;
          return await evaluate.bySource(script, args);
        }
      },
      timeoutMs,
      late,
    );
  };
}

function evaluator(client: RedisClient, key: string) {
  if (typeof client === "object" && client !== null) {
    if ("evalSha" in client && typeof client.evalSha === "function") {
      return {
        bySha1: (sha1: string, args: string[]) => client.evalSha(sha1, { keys: [key], arguments: args }),
        bySource: (source: string, args: string[]) => client.eval(source, { keys: [key], arguments: args }),
      };
    }
    if ("evalsha" in client && typeof client.evalsha === "function") {
      return {
        bySha1: (sha1: string, args: string[]) => client.evalsha(sha1, 1, key, ...args),
        bySource: (source: string, args: string[]) => client.eval(source, 1, key, ...args),
      };
    }
  }
  throw new TypeError("redisStore needs a client from ioredis, or from redis 4 or newer.");
}

/** SHA-1, because Redis identifies scripts by it; security does not depend on it. */
async function sha1Hex(source: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(source));
  return encode("hex", new Uint8Array(digest));
}
