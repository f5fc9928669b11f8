// The description of a signature scheme, without code that computes. The engine signs with node:crypto (synchronous, about
// 1.7 µs), receivers verify with WebCrypto (asynchronous, available everywhere); both use the same description.
import type { Encoding } from "../encoding.ts";
import type { HeaderNames } from "../headers.ts";
import type { SignatureFormat } from "./formats.ts";
import type { KeyKind } from "./keys.ts";
import type { TimeFormat } from "./time.ts";

/** To add one: a file with such an object, a line in `schemes.ts`, and vectors. */
export interface Scheme {
  readonly name: string;
  readonly algorithm: Algorithm;
  /** How a secret string is converted to key bytes. */
  readonly key: KeyKind;
  /** The encoding of a signature's bytes. */
  readonly encoding: Encoding;
  /** The signed content, in parts, so that the body is not copied. */
  readonly signedParts: (message: SignedMessage) => readonly SignedPart[];
  /** The header names. A header that is not named is neither written nor required. */
  readonly headers: {
    readonly signature: HeaderName;
    /** Signatures of the other valid secrets, if the format holds only one. */
    readonly signatureNext?: HeaderName;
    readonly id?: HeaderName;
    readonly timestamp?: HeaderName;
  };
  /** The format of the timestamp. Default: seconds. */
  readonly timeFormat?: TimeFormat;
  /** The path of the timestamp in a signed JSON body, if no header has it. */
  readonly timeInBody?: readonly string[];
  /** Set if the URL is signed: the possible spellings of the sender (at most 2), the one to sign with first. */
  readonly signedUrls?: (url: string) => readonly string[];
  /** The SHA-256 in hex that the body must have, if the signed text contains it instead of the body; otherwise null. */
  readonly bodyDigest?: (message: SignedMessage) => string | null;
  /** How the signature header is written and parsed. */
  readonly format: SignatureFormat;
  /** Set if other schemes write to the same header: where this scheme's items go, separated by a space. */
  readonly shares?: "first" | "last";
  /** Set if every key signs a different text, as for HTTP Message Signatures: `signedParts` cannot be used then. */
  readonly isMessageSignature?: true;
  /** Further headers that it writes. */
  readonly writes?: readonly string[];
  /** The vendor's other headers, which receivers read and no signature covers. */
  readonly companions?: Readonly<Record<string, Companion>>;
  /** The URL to send to, if it must contain the body's SHA-256 in hex. */
  readonly urlToSend?: (url: string, bodySha256: string) => string;
}

/** `uuid`: the event's id without `evt_`. `topic`: the type with a slash for each dot. `retry`: 0 at the first attempt. */
export type Companion = "uuid" | "type" | "topic" | "event_time" | "retry" | { readonly fixed: string };

export type HeaderName = (names: HeaderNames) => string;
export type SignedPart = string | Uint8Array;
/** `token`: nothing is signed, the secret itself is sent. An attacker who has one request can forge any other. */
export type Algorithm = "hmac-sha256" | "hmac-sha512" | "hmac-sha1" | "ed25519" | "token";

export interface SignedMessage {
  readonly id: string;
  /** The time of the attempt, as written in the header: Unix seconds, or according to `timeFormat`. */
  readonly timestamp: string;
  /** Exactly the bytes that are sent. */
  readonly body: Uint8Array;
  /** Method and URL are needed only if `signedUrls` is set. */
  readonly method?: string | undefined;
  /** The URL as the sender addresses the receiver, with its query. */
  readonly url?: string | undefined;
}

/** Null: the length of the secret. */
export const SIGNATURE_BYTES = {
  "hmac-sha256": 32,
  "hmac-sha512": 64,
  "hmac-sha1": 20,
  ed25519: 64,
  token: null,
} as const;
