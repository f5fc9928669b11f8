// A sender: how its requests are recognized, authenticated and parsed. sources/ contains the presets.
import type { Explanation, HeaderSource, VerifyFailure } from "@posthorn/wire";
import type { VerifiedRequest, WebhookResponse } from "./model.ts";

export interface Source {
  /** Part of every message's key. If it is renamed, earlier messages count as new. */
  readonly name: string;
  /** Returns whether the source's signature header is present. It does not verify anything. */
  matches(headers: HeaderSource): boolean;
  authenticate(request: RawRequest, options: AuthenticationOptions): Promise<Authentication>;
  /** The headers that `parse` reads, in lower case, `ce-*` for a family. They are stored with the message, to parse it again. */
  readonly parsedHeaders: readonly string[];
  /** False if deliveries of one event may differ in their bytes: the same id with another body is then no conflict. */
  readonly hasStableBody: boolean;
  /**
   * The status that, with `Retry-After`, means "later" to this sender and not a failure: the response to a delivery that must come again
   * although nothing is wrong. Posthorn's is 409, because 503 would pause the whole endpoint. Default 503, because most senders treat
   * 4xx as final.
   */
  readonly retryLaterStatus?: number;
  /** Pure, and never throws. Called again, with the stored headers, for a message from the inbox. */
  parse(verified: VerifiedRequest): Parsed;
}

/** A request whose body was read completely. */
export interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderSource;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface AuthenticationOptions {
  readonly toleranceSeconds: number;
  readonly now: Date;
}

export type Authentication =
  /** `signedId`: the message's id if the signature covers it; null if it is in the body or unsigned. */
  | {
      readonly ok: true;
      readonly signedId: string | null;
      /** The response to a challenge that requires the secret. Nothing is parsed then. */
      readonly answer?: WebhookResponse;
    }
  /** The sender does not learn the reason; it is reported to `onRejected`. */
  | {
      readonly ok: false;
      readonly reason: RejectionReason;
      /** A closer look, which may cost more than the rejection: called only if no other source accepts the request. */
      readonly explain?: () => Promise<Explanation>;
    };

export type RejectionReason = VerifyFailure;

export type Parsed =
  /** One event, except for batches; none for an empty batch. */
  | { readonly kind: "events"; readonly events: readonly ParsedEvent[] }
  /** A request of the sender that is not an event, such as a challenge: answered at once, and nothing is stored. */
  | { readonly kind: "answer"; readonly answer: WebhookResponse }
  /** Rejected with 400. The reason is a sentence for the log. */
  | { readonly kind: "malformed"; readonly reason: string };

export interface ParsedEvent {
  /** Unique within the source, the same on every delivery of the event. */
  readonly id: string;
  readonly type: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** The scope of `sequence`, if it is more than the subject. */
  readonly sequenceScope?: string;
  readonly createdAt: Date | null;
  readonly data: unknown;
  /** The whole body, parsed. */
  readonly payload: unknown;
  /** For members of a batch: a request that parses to this event alone. */
  readonly standalone?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array<ArrayBuffer>;
  };
}
