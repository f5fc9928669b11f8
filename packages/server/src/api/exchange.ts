// One request and what is known about it, as a route sees it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Params } from "./router.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: Params;
  readonly requestId: string;
  /** What follows the question mark; empty when there is none. */
  readonly query: string;
}

/** A parameter the route's own path declares. */
export function param(exchange: Exchange, name: string): string {
  const value = exchange.params[name];
  if (value === undefined) throw new Error(`The route has no parameter {${name}}.`);
  return value;
}
