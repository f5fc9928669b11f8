// Who sends: how its requests are told apart, proven authentic and read. sources/ makes them, one preset a file.
import type { Explanation, HeaderSource, VerifyFailure } from "@posthorn/wire";
import type { Authentic, WebhookResponse } from "./model.ts";

export interface Source {
  /** Part of every message's key, so keep it: renamed, the source's messages are fresh again. */
  readonly name: string;
  /** Its signature header is there. Says nothing about who sent it. */
  matches(headers: HeaderSource): boolean;
  authenticate(request: RawRequest, terms: AuthenticationOptions): Promise<Authentication>;
  /** The headers that `parse` reads, in lower case, `ce-*` for a family. They are kept with a message, to parse it again. */
  readonly parsedHeaders: readonly string[];
  /** False where deliveries of one event may differ in their bytes: then the same id with another body is no conflict. */
  readonly hasStableBody: boolean;
  /**
   * True where 409 with `Retry-After` is "later" and no failure, as with Posthorn: it is the answer to `RetryLater`, which 503 would
   * be of the whole endpoint. To others a 409 may be final.
   */
  readonly supportsRetryLater?: boolean;
  /** Pure, and never throws: called again, with the kept headers, for a message that comes from the inbox. */
  parse(authentic: Authentic): Parsed;
}

/** A request whose body was read whole. */
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
  /** `signedId`: the message's id where the signature covers it; null when it stands in the body or is not signed. */
  | {
      readonly ok: true;
      readonly signedId: string | null;
      /** To a question that only who has the secret can answer: nothing is parsed then. */
      readonly answer?: WebhookResponse;
    }
  /** The world is told nothing of it; people find it in `onRejected`. */
  | {
      readonly ok: false;
      readonly reason: RejectionReason;
      /** A closer look, which may cost more than the refusal: asked for only where no other source accepts the request. */
      readonly explain?: () => Promise<Explanation>;
    };

export type RejectionReason = VerifyFailure;

export type Parsed =
  /** One, except for batches; none for an empty batch. */
  | { readonly kind: "events"; readonly events: readonly ParsedEvent[] }
  /** Not an event but a question of the sender's, such as a challenge: answered at once, and nothing is kept. */
  | { readonly kind: "answer"; readonly answer: WebhookResponse }
  /** 400. The reason is a sentence for the people who read the log. */
  | { readonly kind: "malformed"; readonly reason: string };

export interface ParsedEvent {
  /** Unique within the source, the same on every delivery of the event. */
  readonly id: string;
  readonly type: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** What `sequence` counts within, where that is more than the subject. */
  readonly sequenceScope?: string;
  readonly createdAt: Date | null;
  readonly data: unknown;
  /** The whole body, parsed. */
  readonly payload: unknown;
  /** For members of a batch: a request of its own that parses to this event alone. */
  readonly alone?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array<ArrayBuffer>;
  };
}
