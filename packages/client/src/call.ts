// Calls an operation over HTTP. Does not import the schemas, so that browsers need not load them.
import type { z } from "zod";
import type { Method } from "./contract/operation.ts";
import { PosthornApiError, PosthornConnectionError, problemOf } from "./errors.ts";
import { parseResponse, rejectRepeatedPage } from "./parse-response.ts";

export interface ClientOptions {
  /** URL of the server, such as `https://hooks.example.com`. */
  readonly url: string;
  /** `phk_…` or the admin key. Null uses the browser session, on pages of the server. */
  readonly key: string | null;
  /** The session to use with `key: null`. Default: dashboard. */
  readonly page?: "dashboard" | "portal" | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Rejects responses that do not match the contract with the code `unexpected_response`. Default: false. */
  readonly checksResponses?: boolean | undefined;
}

/** The parts of an operation that a call needs. */
export interface Callable {
  readonly method: Method;
  readonly path: string;
  readonly response: {
    /** Null if there is no body. If it is left out, the response is not checked. */
    readonly schema?: z.ZodType | null;
    /** The call resolves to the response, whose body is a stream. */
    readonly isExport?: true;
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
  const { fetch: send = fetch, url, key, checksResponses = false } = options;
  const target = urlOf(url, one, input);
  const response = await withConnectionErrors(url, () =>
    send(target, {
      method: one.method,
      headers: {
        ...(key === null ? pageHeader(options) : { authorization: `Bearer ${key}` }),
        accept: one.response.isExport ? "*/*" : "application/json",
        ...(input.body !== undefined && { "content-type": "application/json" }),
        ...input.headers,
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      ...(key === null && { credentials: "same-origin" as const }),
      ...(input.signal && { signal: input.signal }),
    }),
  );
  if (!response.ok) throw new PosthornApiError(await withConnectionErrors(url, () => problemOf(response)));
  const { schema, isExport } = one.response;
  if (isExport) return response;
  if (schema === null) return undefined;
  const text = await withConnectionErrors(url, () => response.text());
  const body = parseResponse(response, text, checksResponses ? (schema ?? null) : null);
  rejectRepeatedPage(response, input.query?.cursor, body);
  return body;
}

/** Converts the TypeError that `fetch` throws without a complete response. An abort is passed on. */
async function withConnectionErrors<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TypeError ? new PosthornConnectionError(url, error) : error;
  }
}

/** A header that pages of other sites cannot send, which protects against cross-site requests. */
function pageHeader({ page }: ClientOptions): Record<string, string> {
  return { "posthorn-dashboard": page === "portal" ? "portal" : "1" };
}

function urlOf(base: string, one: Callable, input: AnyInput): string {
  let { path } = one;
  for (const name of pathParamsOf(one.path)) {
    const value = input[name];
    if (typeof value !== "string" || value === "") throw new TypeError(`${one.path} needs ${name}.`);
    // URLs resolve these segments even if encoded: tenants/../deliveries would be all deliveries
    if (value === "." || value === "..")
      throw new TypeError(`"${value}" cannot be the ${name} of ${one.path}.`);
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const search = query.toString();
  return `${base.replace(/\/+$/, "")}${path}${search === "" ? "" : `?${search}`}`;
}

export function pathParamsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}
