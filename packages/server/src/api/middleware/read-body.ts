// Reads a JSON body whole and within limits. What is too large, compressed or of another type is refused before it is
// read; the time a slow client may take is limited by the server's request timeout.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { HttpError } from "../http-error.ts";

export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The exact bytes of a JSON body: valid UTF-8, not yet parsed. */
export async function readJsonBytes(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  checkHeaders(request, maxBytes);
  const body = await readBytes(request, maxBytes);
  if (!isUtf8(body))
    throw new HttpError("invalid_utf8", "The body is not valid UTF-8. Send JSON encoded in UTF-8.");
  return body;
}

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
      "Compressed bodies are not accepted. Send it without Content-Encoding.",
    );
  }
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) {
    throw new HttpError(
      "unsupported_media_type",
      "The body must be JSON. Send it with Content-Type: application/json.",
    );
  }
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (request.readableEnded) return Promise.resolve(bytesKeptBySomeoneElse(request));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) settle(() => reject(tooLarge(maxBytes)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      const [only = Buffer.alloc(0)] = chunks;
      settle(() => resolve(chunks.length > 1 ? Buffer.concat(chunks, bytes) : only));
    };
    const onCut = (): void =>
      settle(() => reject(new HttpError("body_incomplete", "The body ended too early.")));
    // What still comes is thrown away by Node once the answer is sent.
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("close", onCut);
      finish();
    };
    request.on("data", onData).on("end", onEnd).on("close", onCut).on("error", ignore);
  });
}

function ignore(): void {}

/** In an application with a body parser in front of us the stream is spent; some parsers keep the bytes. */
function bytesKeptBySomeoneElse(request: IncomingMessage): Buffer {
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
