// Reads the bytes of a request up to a limit, and no further.

import { BodyNotRaw } from "../errors.ts";
import { readHeader } from "../headers.ts";
import type { WebhookRequest } from "../model.ts";
import { jsonResponse, malformed } from "../respond.ts";
import { Rejection } from "./rejection.ts";

export async function readBody(
  { headers, body }: WebhookRequest,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | Rejection> {
  const encoding = readHeader(headers, "content-encoding");
  // Only the encoded bytes are signed, and decompressing a bomb is expensive.
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    const error = "Send the body without a content encoding.";
    const response = jsonResponse(415, { error }, { "accept-encoding": "identity" });
    return new Rejection(response, "encoded", `The content encoding is ${encoding.slice(0, 60)}.`);
  }
  const declaredBytes = Number(readHeader(headers, "content-length") ?? 0);
  if (declaredBytes > maxBytes) return pastLimit(maxBytes);
  if (body instanceof Uint8Array) {
    return body.length > maxBytes ? pastLimit(maxBytes) : new Uint8Array(body);
  }
  return readPieces(body, declaredBytes, maxBytes);
}

async function readPieces(
  body: AsyncIterable<Uint8Array>,
  declaredBytes: number,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | Rejection> {
  // Kept separately, chunks of one byte would cost some 250 bytes each.
  let bytes = new Uint8Array(
    Math.min(maxBytes, FIRST_BYTES, declaredBytes > 0 ? declaredBytes : FIRST_BYTES),
  );
  let length = 0;
  try {
    for await (const piece of body) {
      const end = length + piece.length;
      if (end > maxBytes) return pastLimit(maxBytes);
      if (end > bytes.length) bytes = grown(bytes.subarray(0, length), end, maxBytes);
      bytes.set(piece, length);
      length = end;
    }
  } catch (error) {
    if (error instanceof BodyNotRaw) throw error;
    const detail = `The body could not be read to its end: ${String(error)}`;
    return new Rejection(malformed("The body ended early."), "unreadable", detail);
  }
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

const FIRST_BYTES = 4_096;

function grown(bytes: Uint8Array, leastBytes: number, mostBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(mostBytes, Math.max(leastBytes, 2 * bytes.length)));
  larger.set(bytes);
  return larger;
}

function pastLimit(maxBytes: number): Rejection {
  const error = `The body has more than ${maxBytes} bytes.`;
  return new Rejection(jsonResponse(413, { error }), "too_large", error);
}
