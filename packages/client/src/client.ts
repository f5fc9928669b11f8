// The typed client: it is the contract, called. `client.endpoints.create({ tenant: "acme", body: { url, events } })`.
import type { z } from "zod";
import { beginsAgain, parseAnswer, refuseSamePage } from "./answer.ts";
import { contract, type PosthornContract } from "./contract/contract.ts";
import type { AnswerOf, Contract, Operation, PathParams } from "./contract/operation.ts";
import { PosthornApiError, PosthornConnectionError, problemOf } from "./errors.ts";
import { pathParamsOf } from "./open-api.ts";

export interface ClientOptions {
  /** Where the server is: `https://hooks.example.com`. */
  readonly url: string;
  /** `phk_…`, or the admin key. */
  readonly key: string;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch | undefined;
  /** Refuses an answer that does not fit the contract, with the code `unexpected_answer`. Default false. */
  readonly checksAnswers?: boolean | undefined;
}

/** The parameters of the path by their names, and beside them what else it takes. */
export type Input<Given extends Operation> = {
  readonly [Name in PathParams<Given["path"]>]: string;
} & (Given["query"] extends z.ZodType ? { readonly query?: z.input<Given["query"]> } : unknown) &
  (Given["body"] extends z.ZodType
    ? Given["isBodyOptional"] extends true
      ? { readonly body?: z.input<Given["body"]> }
      : { readonly body: z.input<Given["body"]> }
    : unknown) & { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal };

type Call<Given extends Operation> =
  Record<never, never> extends Input<Given>
    ? (input?: Input<Given>) => Promise<AnswerOf<Given>>
    : (input: Input<Given>) => Promise<AnswerOf<Given>>;

export type ClientOf<Given extends Contract> = {
  readonly [Resource in keyof Given]: {
    readonly [Name in keyof Given[Resource]]: Given[Resource][Name] extends Operation
      ? Call<Given[Resource][Name]>
      : never;
  };
};

export type PosthornClient = ClientOf<PosthornContract>;

export function createClient(options: ClientOptions): PosthornClient {
  const resources = Object.entries(contract as Contract).map(([resource, operations]) => [
    resource,
    Object.fromEntries(
      Object.entries(operations).map(([name, one]) => [
        name,
        (input: AnyInput = {}) => call(options, one, input),
      ]),
    ),
  ]);
  return Object.fromEntries(resources) as PosthornClient;
}

/** All items of a list, page after page: `for await (const item of pages((cursor) => client.tenants.list({ query: { cursor } })))`. */
export async function* pages<Item>(
  list: (cursor: string | undefined) => Promise<{ data: readonly Item[]; next_cursor: string | null }>,
): AsyncGenerator<Item> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await list(cursor);
    yield* page.data;
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined && seen.has(cursor)) throw beginsAgain({ status: 200, statusText: "OK" });
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
}

interface AnyInput {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly [param: string]: unknown;
}

async function call(options: ClientOptions, one: Operation, input: AnyInput): Promise<unknown> {
  const { fetch: send = fetch, url, key, checksAnswers = false } = options;
  const place = urlOf(url, one, input);
  const response = await answered(url, () =>
    send(place, {
      method: one.method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json",
        ...(input.body !== undefined && { "content-type": "application/json" }),
        ...input.headers,
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      ...(input.signal && { signal: input.signal }),
    }),
  );
  if (!response.ok) throw new PosthornApiError(await answered(url, () => problemOf(response)));
  const { schema } = one.answer;
  if (schema === null) return undefined;
  const text = await answered(url, () => response.text());
  const answer = parseAnswer(response, text, checksAnswers ? schema : null);
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

function urlOf(base: string, one: Operation, input: AnyInput): string {
  let path: string = one.path;
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
