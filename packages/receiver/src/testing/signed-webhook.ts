// Shared by both ways to sign, as Posthorn and as a vendor.
import { formatId, isMessageId, type Scheme, uuidv7 } from "@posthorn/wire";

export interface WebhookOptions {
  /** One secret, or several during a rotation: the one that expires first comes first. */
  readonly secret: string | readonly string[];
  /** The same on every delivery of an event. If it is signed: up to 255 visible characters, no dot. Default: a new one. */
  readonly id?: string;
  /** The signed time of sending. Default: now. */
  readonly timestamp?: Date;
  /** Default `http://localhost/webhooks`. Some vendors sign it. */
  readonly url?: string;
  /** Added to the generated headers, or replacing them. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const webhookNames = [
  "secret",
  "id",
  "timestamp",
  "url",
  "headers",
] as const satisfies (keyof WebhookOptions)[];

/** The parts of a request, for any HTTP client or a framework's `inject`. */
export interface SignedWebhook {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export const DEFAULT_URL = "http://localhost/webhooks";

export function newId(): string {
  return formatId("evt", uuidv7());
}

/** Every receiver rejects such a request with 401, and a test would blame the receiver. */
export function rejectUnsignableId(id: string, schemes: readonly Scheme[]): void {
  if (isMessageId(id) || schemes.every(({ headers }) => headers.id === undefined)) return;
  throw new TypeError(
    `The id "${String(id).slice(0, 60)}" cannot be signed. Use 1 to 255 visible ASCII characters without a dot.`,
  );
}

/** Strings and bytes unchanged, anything else as JSON. */
export function bytesOf(payload: unknown): Uint8Array<ArrayBuffer> {
  if (payload instanceof Uint8Array) return Uint8Array.from(payload);
  return new TextEncoder().encode(typeof payload === "string" ? payload : JSON.stringify(payload));
}
