// Whatever speaks Fetch: Hono, the app router of Next.js, Bun, Deno, Cloudflare Workers.
import type { RequestHandler } from "../model.ts";
import { consumedBody } from "./consumed-body.ts";

/** Hono: `app.all("/webhooks", (c) => handle(c.req.raw))`. */
export function fetchHandler(receiver: RequestHandler): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method, url, headers } = request;
    const result = await receiver.receive({ method, url, headers, body: piecesOf(request) });
    // a status such as 204 refuses even an empty text
    return new Response(result.body === "" ? null : result.body, {
      status: result.status,
      headers: { ...result.headers },
    });
  };
}

/** Not cancelled when the receiver stops early: some servers would cut the connection before the answer is out. */
async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
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
  reason: "the Request was read first, as by request.json() or Hono's c.req.json()",
  fix:
    "Hand it to the receiver unread: whoever must look at the body before takes a copy, request.clone() or " +
    "c.req.raw.clone().",
};
