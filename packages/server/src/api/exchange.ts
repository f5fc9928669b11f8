// One request and what is known about it, as a route sees it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "./principal.ts";
import type { Params } from "./router.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: Params;
  readonly requestId: string;
  /** What follows the question mark; empty when there is none. */
  readonly query: string;
  /** Who asks; on a public route nobody in particular, with no scope. */
  readonly principal: Principal;
}
