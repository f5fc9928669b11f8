// Koa 2 and 3.
import type { RequestHandler } from "../model.ts";
import { type NodeRequest, receiveFrom } from "./node-request.ts";

export type { NodeRequest } from "./node-request.ts";

/** The used part of Koa's `Context`. */
export interface KoaContext {
  readonly req: NodeRequest;
  /** Trusts a proxy according to `app.proxy`. */
  readonly href: string;
  readonly request: object;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/** `app.use(koaHandler(receiver))`, or on a route of a router; before `bodyParser()` or without it. */
export function koaHandler(receiver: RequestHandler): (context: KoaContext) => Promise<void> {
  return async (context) => {
    const parsedBodies = ["body" in context.request && context.request.body];
    const result = await receiveFrom(receiver, context.req, { url: context.href, parsedBodies, notRaw });
    context.body = result.body === "" ? null : result.body;
    // After the body, because setting the body changes both.
    context.status = result.status;
    context.set({ ...result.headers });
  };
}

const notRaw = {
  reason: "bodyParser(), or another body parser, ran first",
  fix: "Put app.use(koaHandler(receiver)), or the router with its route, above app.use(bodyParser()).",
};
