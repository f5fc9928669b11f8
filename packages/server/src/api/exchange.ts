// A request and its response, with what the router and authentication found out.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "./principal.ts";
import type { Params } from "./router.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: Params;
  readonly requestId: string;
  /** The part after the question mark, or an empty string. */
  readonly query: string;
  /** The authenticated caller; on a public route `ANONYMOUS`, which has no scope. */
  readonly principal: Principal;
}
