// The stages of a request and their types: WebhookRequest → VerifiedRequest → Message → Claim → WebhookResponse.
// A message cannot be claimed before it is authenticated, nor acknowledged before it is claimed.
import type { HeaderSource } from "@posthorn/wire";

/** A request, translated by an adapter from its framework. */
export interface WebhookRequest {
  readonly method: string;
  /** The URL as the sender addressed it, with its query: some senders sign it. */
  readonly url: string;
  readonly headers: HeaderSource;
  /**
   * The raw bytes, whole or in chunks; never text that was parsed and serialized again. Reading throws `BodyNotRaw` if they were consumed
   * before. The receiver may stop reading after any chunk.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** The response, which an adapter writes unchanged. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or empty. */
  readonly body: string;
}

/** A request whose signature is valid. */
export interface VerifiedRequest {
  /** The name of the source that verified it: `stripe`, `posthorn`, or your own name. */
  readonly source: string;
  /** The id that the signature covers, or null if the id is in the body. */
  readonly signedId: string | null;
  readonly headers: HeaderSource;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** An authenticated event as stores keep it, with all that is needed to parse it again. */
export interface Message extends MessageKey {
  /** SHA-256 of the body in lower-case hex: the same id with another body is rejected. */
  readonly digest: string;
  readonly type: string;
  /**
   * The scope of `sequence`; null if the sender does not order events. For CloudEvents it combines source and subject, because each
   * source counts on its own.
   */
  readonly subject: string | null;
  readonly sequence: number | null;
  /** When the event was recorded, if the sender says so. */
  readonly createdAt: Date | null;
  /** The headers needed for parsing, with lower-case names; never a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Identifies a message. */
export interface MessageKey {
  /** The name of the source that verified it. */
  readonly source: string;
  /** Unique within the source, the same on every delivery of the event. */
  readonly id: string;
}

/** One text for the key, unambiguous for all sources and ids. */
export function messageName({ source, id }: MessageKey): string {
  return `${source.length} ${source}${id}`;
}

/** The event that a handler receives. */
export interface WebhookEvent<Data = unknown> extends Omit<Message, "headers" | "digest"> {
  /** The sender's own subject. */
  readonly subject: string | null;
  /** The event's data; the whole payload if the sender uses no envelope. */
  readonly data: Data;
  /** The whole body, parsed. */
  readonly payload: unknown;
}

/** The part of a receiver that adapters need. */
export interface RequestHandler {
  /** Never rejects: failures are reported to the hooks and become responses. */
  receive(request: WebhookRequest): Promise<WebhookResponse>;
}
