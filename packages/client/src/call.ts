// One call of an operation over HTTP. It knows no schemas, so that a browser need not load them.
import type { z } from "zod";
import { parseAnswer, refuseSamePage } from "./answer.ts";
import type { Method } from "./contract/operation.ts";
import { PosthornApiError, PosthornConnectionError, problemOf } from "./errors.ts";

export interface ClientOptions {
  /** Where the server is: `https://hooks.example.com`. */
  readonly url: string;
  /** `phk_…`, or the admin key; null: the session of the browser it runs in, on the server's own pages. */
  readonly key: string | null;
  /** Whose session, with `key: null`: that of the dashboard (unless told), or of the portal. */
  readonly page?: "dashboard" | "portal" | undefined;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch | undefined;
  /** Refuses an answer that does not fit the contract, with the code `unexpected_answer`. Default false. */
  readonly checksAnswers?: boolean | undefined;
}

/** What a call has to know of an operation. */
export interface Callable {
  readonly method: Method;
  readonly path: string;
  readonly answer: {
    /** Null: there is no body. Left out: whatever comes is taken as it is. */
    readonly schema?: z.ZodType | null;
  };
}

export interface AnyInput {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly [param: string]: unknown;
}

export async function call(options: ClientOptions, one: Callable, input: AnyInput): Promise<unknown> {
  const { fetch: send = fetch, url, key, checksAnswers = false } = options;
  const place = urlOf(url, one, input);
  const response = await answered(url, () =>
    send(place, {
      method: one.method,
      headers: {
        ...(key === null ? pageHeader(options) : { authorization: `Bearer ${key}` }),
        accept: "application/json",
        ...(input.body !== undefined && { "content-type": "application/json" }),
        ...input.headers,
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      ...(key === null && { credentials: "same-origin" as const }),
      ...(input.signal && { signal: input.signal }),
    }),
  );
  if (!response.ok) throw new PosthornApiError(await answered(url, () => problemOf(response)));
  const { schema } = one.answer;
  if (schema === null) return undefined;
  const text = await answered(url, () => response.text());
  const answer = parseAnswer(response, text, checksAnswers ? (schema ?? null) : null);
  refuseSamePage(response, input.query?.cursor, answer);
  return answer;
}

/** `fetch` throws a TypeError when there is no answer or only a part of one; an abort is the caller's own. */
async function answered<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TypeError ? new PosthornConnectionError(url, error) : error;
  }
}

/** Another site's page cannot send it: that is how the server knows its own. */
function pageHeader({ page }: ClientOptions): Record<string, string> {
  return { "posthorn-dashboard": page === "portal" ? "portal" : "1" };
}

function urlOf(base: string, one: Callable, input: AnyInput): string {
  let { path } = one;
  for (const name of pathParamsOf(one.path)) {
    const value = input[name];
    if (typeof value !== "string" || value === "") throw new TypeError(`${one.path} needs ${name}.`);
    // however they are encoded, a URL takes them for steps: tenants/../deliveries are the deliveries of all
    if (value === "." || value === "..")
      throw new TypeError(`"${value}" cannot be the ${name} of ${one.path}.`);
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const asked = query.toString();
  return `${base.replace(/\/+$/, "")}${path}${asked === "" ? "" : `?${asked}`}`;
}

export function pathParamsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}
