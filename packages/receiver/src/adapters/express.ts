// Express 4 and 5.
import type { RequestHandler } from "../model.ts";
import { type NodeRequest, type NodeResponse, nodeAdapter, urlOf } from "./node-request.ts";

export type { NodeRequest, NodeResponse } from "./node-request.ts";

/** The used part of Express's `Request`. */
export interface ExpressRequest extends NodeRequest {
  /** Trusts a proxy according to the setting `trust proxy`. */
  readonly protocol: string;
  readonly originalUrl: string;
  /** Bytes from `express.raw()`. */
  readonly body?: unknown;
  /** Bytes stored by a `verify` function, or by Firebase and Google Cloud Functions. */
  readonly rawBody?: unknown;
}

/** `app.all("/webhooks", expressHandler(receiver))`, before `app.use(express.json())` or without it. */
export function expressHandler(
  receiver: RequestHandler,
): (request: ExpressRequest, response: NodeResponse, next: (error: unknown) => void) => void {
  const handle = adapter(receiver);
  return (request, response, next) => void handle(request, response).catch(next);
}

const adapter = nodeAdapter((request: ExpressRequest) => ({
  url: urlOf(request, request.originalUrl, request.protocol),
  parsedBodies: [request.body, request.rawBody],
  notRaw: {
    reason: "express.json(), or another body parser, ran first",
    fix:
      "Put the webhook route above app.use(express.json()), or give it express.raw({ type: () => true, " +
      'limit: "1mb" }) as its only parser.',
  },
}));
