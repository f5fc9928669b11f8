// Creates a client from a table of operations: the contract, or its reduced form for browsers.
import { type AnyInput, type Callable, type ClientOptions, call } from "./call.ts";
import type { PosthornClient } from "./client.ts";

export type Callables = Readonly<Record<string, Readonly<Record<string, Callable>>>>;

export function clientOf(operations: Callables, options: ClientOptions): PosthornClient {
  const resources = Object.entries(operations).map(([resource, byName]) => [
    resource,
    Object.fromEntries(
      Object.entries(byName).map(([name, one]) => [
        name,
        (input: AnyInput = {}) => call(options, one, input),
      ]),
    ),
  ]);
  return Object.fromEntries(resources) as PosthornClient;
}
