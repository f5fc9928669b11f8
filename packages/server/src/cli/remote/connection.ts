// The server and key of a command: from its options, then from the environment, then from the data directory of this
// machine.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  contract,
  createClient,
  type Operation,
  PosthornApiError,
  type PosthornClient,
  type PosthornContract,
  parseResponse,
  problemOf,
} from "@posthorn/client";
import { httpUrl } from "../../config/parsers.ts";
import { settings } from "../../config/settings.ts";
import { type Environment, textOf, withFile } from "../../config.ts";
import { CliError, usage } from "../failure.ts";
import { DEFAULT_URL } from "./default-url.ts";

export interface ConnectionFlags {
  readonly url?: string;
  readonly key?: string;
}

export interface Connection {
  readonly url: string;
  readonly key: string;
  readonly client: PosthornClient;
  readonly contract: PosthornContract;
  /** Sends and returns text, because parsing would change some numbers. The response is validated. */
  send(operation: Operation, path: string, body?: string): Promise<string>;
  /** The server's time according to the last response, or the local time before the first. */
  now(): Date;
}

const TIMEOUT_MS = 30_000;

export async function connect(flags: ConnectionFlags, env: Environment): Promise<Connection> {
  const url = urlOf(flags, env);
  const key = await keyOf(flags, env, url);
  let aheadMs = 0;
  const send: typeof fetch = async (input, init) => {
    const response = await reach(url, () =>
      fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(TIMEOUT_MS) }),
    );
    // a truncated body counts as an unreachable server
    const text = () => reach(url, () => readText(response));
    Object.defineProperty(response, "text", { value: text });
    const date = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(date)) aheadMs = date - Date.now();
    return response;
  };
  return {
    url,
    key,
    client: createClient({ url, key, fetch: send, checksResponses: true }),
    contract,
    send: async ({ method, response: expected }, path, body) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const response = await send(url + path, { method, headers, ...(body !== undefined && { body }) });
      if (!response.ok) throw new PosthornApiError(await problemOf(response));
      const text = await response.text();
      parseResponse(response, text, expected.schema);
      return text;
    },
    now: () => new Date(Date.now() + aheadMs),
  };
}

function urlOf(flags: ConnectionFlags, env: Environment): string {
  const text = flags.url ?? (env.POSTHORN_URL || DEFAULT_URL);
  try {
    return httpUrl(text);
  } catch (error) {
    const name = flags.url === undefined ? "POSTHORN_URL" : "--url";
    throw usage(`${name} ${(error as Error).message}. It is ${JSON.stringify(text)}.`);
  }
}

async function keyOf(flags: ConnectionFlags, env: Environment, url: string): Promise<string> {
  const key = flags.key ?? (env.POSTHORN_API_KEY || keyFromFile(env) || (await keyOfThisMachine(env, url)));
  if (key && /^[\x21-\x7e]+$/.test(key)) return key;
  throw usage(
    key
      ? "The key has invalid characters. Copy it again, without line breaks and quotes."
      : "No key is set. Use --key or POSTHORN_API_KEY. On the machine of the server, its admin key is used if POSTHORN_DATA_DIR is its data directory or POSTHORN_ADMIN_KEY is set.",
  );
}

function keyFromFile(env: Environment): string | undefined {
  const path = env.POSTHORN_API_KEY_FILE;
  if (!path) return undefined;
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw usage(`POSTHORN_API_KEY_FILE names ${path}, which cannot be read (${codeOf(error)}).`);
  }
}

/** Used for a server on this machine only, so that the key is never sent elsewhere. */
async function keyOfThisMachine(env: Environment, url: string): Promise<string | undefined> {
  if (!/^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname)) return undefined;
  try {
    const sources = await withFile({ env });
    const dataDir = textOf("dataDir", sources) ?? settings.dataDir.default;
    return textOf("adminKey", sources) ?? readFileSync(join(dataDir, "admin-key"), "utf8").trim();
  } catch {
    return undefined;
  }
}

/** More than any valid response: a page of 250 events of the maximum size has 65 MB. */
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error("its response is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

async function reach<Result>(url: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new CliError(
      "unreachable",
      `The server at ${url} cannot be reached (${codeOf(error)}). Check that it is running, or set another with --url or POSTHORN_URL.`,
      { cause: error },
    );
  }
}

function codeOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: string; message?: string };
  if (cause !== undefined) return codeOf(cause);
  return code || message || String(error);
}
