// Koa 2 and 3.
import type { Receives } from "../model.ts";
import { type NodeRequest, receiveFrom } from "./node-request.ts";

export type { NodeRequest } from "./node-request.ts";

/** Of Koa's `Context`. */
export interface KoaContext {
  readonly req: NodeRequest;
  /** Believes a proxy when `app.proxy` says so. */
  readonly href: string;
  readonly request: object;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/** `app.use(koaHandler(receiver))`, or on a route of a router; before `bodyParser()` or without it. */
export function koaHandler(receiver: Receives): (context: KoaContext) => Promise<void> {
  return async (context) => {
    const left = ["body" in context.request && context.request.body];
    const answer = await receiveFrom(receiver, context.req, { url: context.href, left, notRaw });
    context.body = answer.body === "" ? null : answer.body;
    // after the body, which sets both
    context.status = answer.status;
    context.set({ ...answer.headers });
  };
}

const notRaw = {
  reason: "bodyParser(), or another body parser, ran first",
  fix: "Put app.use(koaHandler(receiver)), or the router with its route, above app.use(bodyParser()).",
};
