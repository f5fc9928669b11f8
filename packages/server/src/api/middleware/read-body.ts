// Reads a whole body within limits. A body that is too large, compressed or of the wrong type is refused before it is
// read. Slow clients are limited by the server's request timeout.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Exchange } from "../exchange.ts";
import { HttpError } from "../http-error.ts";
import { MemoryBudget } from "../memory-budget.ts";

export const MAX_BODY_BYTES = 16 * 1024 * 1024;

type Asked = Pick<Exchange, "request" | "response" | "principal">;

/** A promise unless the body has already been read, as for a plain publish request. */
type Body = Buffer | Promise<Buffer>;

/** Returns the exact bytes of a JSON body, checked to be UTF-8 but not parsed. */
export function readJsonBytes(exchange: Asked, maxBytes = MAX_BODY_BYTES): Body {
  checkIsJson(exchange.request);
  return requireUtf8(readBytesOf(exchange, maxBytes));
}

/** Returns the exact bytes of a UTF-8 body of any content type. */
export function readUtf8Bytes(exchange: Asked): Body {
  return requireUtf8(readBytesOf(exchange));
}

/** Returns the exact bytes of a body of any content type. */
export function readBytesOf(exchange: Asked, maxBytes = MAX_BODY_BYTES): Body {
  const { request, principal } = exchange;
  checkHeaders(request, maxBytes);
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > LARGE_BYTES) bodyMemory.reserve(exchange, principal, announced);
  // A body of unknown length counts as the maximum once it is large.
  const onLarge = announced > 0 ? ignore : () => bodyMemory.reserve(exchange, principal, maxBytes);
  return request.readableEnded ? alreadyReadBytes(request) : readBytes(request, maxBytes, onLarge);
}

function requireUtf8(body: Body): Body {
  return body instanceof Promise ? body.then(checkUtf8) : checkUtf8(body);
}

function checkUtf8(body: Buffer): Buffer {
  if (isUtf8(body)) return body;
  throw new HttpError("invalid_utf8", "The body is not valid UTF-8. Send JSON encoded in UTF-8.");
}

/** Larger bodies count against the memory budget; a parsed body takes several times its size. */
const LARGE_BYTES = 256 * 1024;
/** Shared by the process. A tenant that sends slowly leaves memory for the largest body of another. */
const bodyMemory = new MemoryBudget({
  bytesPerCaller: 2 * MAX_BODY_BYTES,
  totalBytes: 3 * MAX_BODY_BYTES,
  refusal: "Too many large requests are in progress. Try again in a second.",
});

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    if (body.length === 0) throw new HttpError("malformed_json", "The body is empty. Send a JSON document.");
    throw new HttpError("malformed_json", `The body is not valid JSON: ${(error as Error).message}.`);
  }
}

function checkHeaders({ headers }: IncomingMessage, maxBytes: number): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new HttpError(
      "unsupported_media_type",
      "Compressed bodies are not accepted. Send the body without Content-Encoding.",
    );
  }
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function checkIsJson({ headers }: IncomingMessage): void {
  if (JSON_TYPE.test(headers["content-type"] ?? "")) return;
  throw new HttpError(
    "unsupported_media_type",
    "The body must be JSON. Send it with Content-Type: application/json.",
  );
}

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;

/** `onLarge` is called once when the body becomes large, before the rest is read; it may throw to refuse the body. */
function readBytes(request: IncomingMessage, maxBytes: number, onLarge: () => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      const wasLarge = bytes > LARGE_BYTES;
      bytes += chunk.length;
      chunks.push(chunk);
      try {
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        if (bytes > LARGE_BYTES && !wasLarge) onLarge();
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = (): void => {
      const [only = Buffer.alloc(0)] = chunks;
      settle(() => resolve(chunks.length > 1 ? Buffer.concat(chunks, bytes) : only));
    };
    const onCut = (): void =>
      settle(() => reject(new HttpError("body_incomplete", "The body ended too early.")));
    // The rest of the body is discarded after the response is sent.
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("close", onCut);
      finish();
    };
    request.on("data", onData).on("end", onEnd).on("close", onCut).on("error", ignore);
  });
}

function ignore(): void {}

/** Returns the bytes kept by the intake or by a body parser, which has consumed the stream; throws if it kept none. */
function alreadyReadBytes(request: IncomingMessage): Buffer {
  const { rawBody, body } = request as IncomingMessage & { rawBody?: unknown; body?: unknown };
  for (const kept of [rawBody, body]) if (Buffer.isBuffer(kept)) return kept;
  throw new HttpError(
    "body_already_read",
    "A body parser ran before Posthorn, and the exact bytes are gone. Mount createHandler before express.json().",
  );
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError("body_too_large", `The body is larger than ${maxBytes} bytes. Send less at once.`);
}
