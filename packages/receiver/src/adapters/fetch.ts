// Fetch-based servers: Hono, the app router of Next.js, Bun, Deno, Cloudflare Workers.
import type { RequestHandler } from "../model.ts";
import { consumedBody } from "./consumed-body.ts";

/** Hono: `app.all("/webhooks", (c) => handle(c.req.raw))`. */
export function fetchHandler(receiver: RequestHandler): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method, url, headers } = request;
    const result = await receiver.receive({ method, url, headers, body: chunksOf(request) });
    // A status such as 204 does not allow even an empty string.
    return new Response(result.body === "" ? null : result.body, {
      status: result.status,
      headers: { ...result.headers },
    });
  };
}

/** Does not cancel the stream if the receiver stops early: some servers would close the connection before the response is sent. */
async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  if (request.bodyUsed || request.body?.locked) yield* consumedBody(notRaw);
  const reader = request.body?.getReader();
  try {
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      yield piece.value;
    }
  } finally {
    reader?.releaseLock();
  }
}

const notRaw = {
  reason: "the Request was read first, for example by request.json() or Hono's c.req.json()",
  fix: "Pass it to the receiver unread. To read the body before, use a copy: request.clone() or c.req.raw.clone().",
};
