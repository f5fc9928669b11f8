// The stages of a request and the type each hands to the next: WebhookRequest → Authentic → Message → Claim → Answer.
// You cannot claim what was not authenticated, and not acknowledge what was not claimed.
import type { HeaderSource } from "@posthorn/wire";

/** What an adapter makes of its framework's request. */
export interface WebhookRequest {
  readonly method: string;
  /** As the sender addressed it, query and all: some senders sign it. */
  readonly url: string;
  readonly headers: HeaderSource;
  /**
   * The bytes as they came, whole or in pieces; never text that was parsed and written again. Where they are gone, reading
   * throws `BodyNotRaw`. May be left unread from any piece on.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** What an adapter writes back, unchanged. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or empty. */
  readonly body: string;
}

/** A request whose signature held. */
export interface Authentic {
  /** The name of the source that vouched for it: `stripe`, `posthorn`, or what you called it. */
  readonly source: string;
  /** The id the signature covers, or null when the id stands in the body. */
  readonly signedId: string | null;
  readonly headers: HeaderSource;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** An authentic event: what stores keep, and enough to parse it again. */
export interface Message extends MessageKey {
  /** SHA-256 of the body in lower-case hex: the same id with another body is refused. */
  readonly digest: string;
  readonly type: string;
  /**
   * What `sequence` counts within; null when the sender does not order events. Of CloudEvents their source and their subject:
   * another source may count the same.
   */
  readonly subject: string | null;
  readonly sequence: number | null;
  /** When the fact was recorded, if the sender says so. */
  readonly createdAt: Date | null;
  /** Those that parsing reads, with lower-case names; never a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Names a message everywhere. */
export interface MessageKey {
  /** The name of the source that vouched for it. */
  readonly source: string;
  /** Unique within the source, the same on every delivery of the event. */
  readonly id: string;
}

/** What a handler gets. */
export interface WebhookEvent<Data = unknown> extends Omit<Message, "headers" | "digest"> {
  /** As the sender calls it. */
  readonly subject: string | null;
  /** What happened; the whole payload where a sender has no envelope around it. */
  readonly data: Data;
  /** The whole body, parsed. */
  readonly payload: unknown;
}

/** What an adapter needs of a receiver. */
export interface RequestHandler {
  /** Never rejects: whatever fails inside is told to the hooks, and answered. */
  receive(request: WebhookRequest): Promise<WebhookResponse>;
}
