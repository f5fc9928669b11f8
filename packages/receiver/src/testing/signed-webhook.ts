// What the two ways to sign, as Posthorn and as a vendor, have in common.
import { formatId, uuidv7 } from "@posthorn/wire";

export interface WebhookOptions {
  /** One, or several as while a secret is being changed: the one that retires soonest first. */
  readonly secret: string | readonly string[];
  /** The same on every delivery of an event. Default: a new one. */
  readonly id?: string;
  /** When it is sent: what is signed. Default: now. */
  readonly timestamp?: Date;
  /** Default `http://localhost/webhooks`. Some vendors sign it. */
  readonly url?: string;
  /** Added to the others, or in their place. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const webhookNames = [
  "secret",
  "id",
  "timestamp",
  "url",
  "headers",
] as const satisfies (keyof WebhookOptions)[];

/** What any HTTP client, or a framework's `inject`, takes. */
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

/** Text and bytes as they are, all else as JSON. */
export function bytesOf(payload: unknown): Uint8Array<ArrayBuffer> {
  if (payload instanceof Uint8Array) return Uint8Array.from(payload);
  return new TextEncoder().encode(typeof payload === "string" ? payload : JSON.stringify(payload));
}
