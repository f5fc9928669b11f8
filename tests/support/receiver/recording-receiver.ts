// A receiver that verifies nothing and remembers what came to it, so that a test can compare it with what was sent.
import {
  BodyNotRaw,
  type RequestHandler,
  type WebhookRequest,
  type WebhookResponse,
} from "@posthorn/receiver";
import type { HeaderSource } from "@posthorn/wire";
import { readHeader } from "../../../packages/receiver/src/headers.ts";

export const MAX_BODY_BYTES = 1024 * 1024;

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderSource;
  readonly body: Buffer;
}

export class RecordingReceiver implements RequestHandler {
  readonly requests: Recorded[] = [];
  /** Why bodies could not be read. */
  readonly failures: unknown[] = [];
  /** To requests that were read to their end. */
  answer: WebhookResponse = {
    status: 200,
    headers: { "content-type": "application/json" },
    body: '{"ok":true}',
  };
  /** Of the request read last. */
  bytesRead = 0;
  readonly #waiting: { readonly isThere: () => boolean; readonly resolve: () => void }[] = [];

  async receive({ method, url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
    if (method === "OPTIONS") return handshake(headers);
    if (method !== "POST") return { status: 405, headers: { allow: "POST, OPTIONS" }, body: "" };
    try {
      const bytes = await this.#read(body);
      if (bytes === null) return { status: 413, headers: {}, body: "" };
      this.requests.push({ method, url, headers, body: bytes });
      return this.answer;
    } catch (error) {
      this.failures.push(error);
      return { status: error instanceof BodyNotRaw ? 500 : 400, headers: {}, body: "" };
    } finally {
      this.#wake();
    }
  }

  /** Resolves as soon as `isThere` holds; asked again with each piece and each request. */
  until(isThere: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ isThere, resolve });
      this.#wake();
    });
  }

  async #read(body: WebhookRequest["body"]): Promise<Buffer | null> {
    this.bytesRead = 0;
    const pieces: Uint8Array[] = [];
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      this.bytesRead += piece.length;
      if (this.bytesRead > MAX_BODY_BYTES) return null;
      pieces.push(piece);
      this.#wake();
    }
    return Buffer.concat(pieces);
  }

  #wake(): void {
    for (const { isThere, resolve } of this.#waiting) if (isThere()) resolve();
  }
}

function handshake(headers: HeaderSource): WebhookResponse {
  const origin = readHeader(headers, "webhook-request-origin");
  return { status: 200, headers: { "webhook-allowed-origin": origin ?? "" }, body: "" };
}
