// A receiver that verifies nothing and records requests, to be compared with what was sent.
import {
  BodyNotRaw,
  type RequestHandler,
  type WebhookRequest,
  type WebhookResponse,
} from "@posthorn/receiver";
import type { HeaderSource } from "@posthorn/wire";

export const MAX_BODY_BYTES = 1024 * 1024;

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderSource;
  readonly body: Buffer;
}

export class RecordingReceiver implements RequestHandler {
  readonly requests: Recorded[] = [];
  /** Errors of bodies that could not be read. */
  readonly failures: unknown[] = [];
  /** The response to requests that were read completely. */
  response: WebhookResponse = {
    status: 200,
    headers: { "content-type": "application/json" },
    body: '{"ok":true}',
  };

  async receive({ method, url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
    if (method !== "POST") return { status: 405, headers: { allow: "POST, OPTIONS" }, body: "" };
    try {
      const bytes = await read(body);
      if (bytes === null) return { status: 413, headers: {}, body: "" };
      this.requests.push({ method, url, headers, body: bytes });
      return this.response;
    } catch (error) {
      this.failures.push(error);
      return { status: error instanceof BodyNotRaw ? 500 : 400, headers: {}, body: "" };
    }
  }
}

async function read(body: WebhookRequest["body"]): Promise<Buffer | null> {
  let length = 0;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
