// Reads a form body.
import { isUtf8 } from "node:buffer";
import type { Exchange } from "../api/exchange.ts";
import { HttpError } from "../api/http-error.ts";
import { readBytesOf } from "../api/middleware/read-body.ts";

/** Enough for a hundred topics with long URLs. */
export const MAX_FORM_BYTES = 64 * 1024;

const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:;.*)?$/i;

export async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(exchange.request.headers["content-type"] ?? "")) {
    throw new HttpError(
      "unsupported_media_type",
      "Send a form with Content-Type: application/x-www-form-urlencoded.",
    );
  }
  const body = await readBytesOf(exchange, MAX_FORM_BYTES);
  if (!isUtf8(body)) throw new HttpError("invalid_utf8", "The body is not valid UTF-8.");
  return new URLSearchParams(body.toString());
}
