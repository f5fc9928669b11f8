// What a signature scheme is: a description, no code that computes. The engine signs with node:crypto (synchronous,
// about 2.5 µs), receivers verify with WebCrypto (asynchronous, everywhere); both read the same description.
import type { Encoding } from "../encoding.ts";
import type { HeaderNames } from "../headers.ts";
import type { SignatureFormat } from "./formats.ts";
import type { KeyKind } from "./keys.ts";
import type { TimeFormat } from "./time.ts";

/** To add one: a file with such an object, a line in `schemes.ts`, and vectors. */
export interface Scheme {
  readonly name: string;
  readonly algorithm: Algorithm;
  /** How a secret string becomes key bytes. */
  readonly key: KeyKind;
  /** How the bytes of a signature are written. */
  readonly encoding: Encoding;
  /** What is signed, in pieces, so that the body is not copied. Every piece that matters is in here. */
  readonly signedParts: (message: SignedMessage) => readonly SignedPart[];
  /** Where things are; what a scheme does not name it neither writes nor asks for. */
  readonly headers: {
    readonly signature: HeaderName;
    /** Signatures of the other valid secrets, when the format holds only one. */
    readonly signatureNext?: HeaderName;
    readonly id?: HeaderName;
    readonly timestamp?: HeaderName;
  };
  /** How the time is written wherever it stands; seconds when left out. */
  readonly timeFormat?: TimeFormat;
  /** Where a signed body of JSON holds the time, when no header does. */
  readonly timeInBody?: readonly string[];
  /** Set when the URL is signed: how the sender may have spelt it (2 at most), the spelling to sign with first. */
  readonly signedUrls?: (url: string) => readonly string[];
  /** The SHA-256 in hex that the body must have when the signed text holds that in its place; null when it does not. */
  readonly bodyDigest?: (message: SignedMessage) => string | null;
  /** How the value of the signature header is written and read. */
  readonly format: SignatureFormat;
  /** Set when other schemes write to the same signature header: where this one's items go, after a space. */
  readonly shares?: "first" | "last";
  /** Set when every key signs a text of its own, as HTTP Message Signatures do: `signedParts` cannot be asked then. */
  readonly isMessageSignature?: true;
  /** Headers that it writes besides. */
  readonly writes?: readonly string[];
  /** Further headers of the sender's, which receivers read and no signature covers. */
  readonly companions?: Readonly<Record<string, Companion>>;
  /** Where to send to, when the URL is to hold the body's SHA-256 in hex. */
  readonly urlToSend?: (url: string, bodySha256: string) => string;
}

/** `uuid`: the event's id without `evt_`. `topic`: the type with a slash for each dot. `retry`: 0 at the first attempt. */
export type Companion = "uuid" | "type" | "topic" | "event_time" | "retry" | { readonly fixed: string };

export type HeaderName = (names: HeaderNames) => string;
export type SignedPart = string | Uint8Array;
/** `token`: nothing is signed, the secret itself is sent. Whoever gets hold of one request can say anything from then on. */
export type Algorithm = "hmac-sha256" | "hmac-sha1" | "ed25519" | "token";

export interface SignedMessage {
  readonly id: string;
  /** The time of the attempt, as the text in the header: Unix seconds, or what `timeFormat` says. */
  readonly timestamp: string;
  /** Exactly the bytes that are sent. */
  readonly body: Uint8Array;
  /** The two below are needed only where `signedUrls` is set. */
  readonly method?: string | undefined;
  /** As the sender addresses the receiver, query and all. */
  readonly url?: string | undefined;
}

/** Null: as many as the secret has. */
export const SIGNATURE_BYTES = { "hmac-sha256": 32, "hmac-sha1": 20, ed25519: 64, token: null } as const;
