// What a signature scheme is: a description, no code that computes. The engine signs with node:crypto (synchronous,
// about 2.5 µs), receivers verify with WebCrypto (asynchronous, everywhere); both read the same description.
import type { Encoding } from "../encoding.ts";
import type { HeaderNames } from "../headers.ts";
import type { SignatureFormat } from "./formats.ts";
import type { KeyKind } from "./keys.ts";

/** To add one: a file with such an object, a line in `schemes.ts`, and vectors. */
export interface Scheme {
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "ed25519";
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
  /** How the value of the signature header is written and read. */
  readonly format: SignatureFormat;
  /** Set when other schemes write to the same signature header: where this one's items go, after a space. */
  readonly shares?: "first" | "last";
}

export type HeaderName = (names: HeaderNames) => string;
export type SignedPart = string | Uint8Array;

export interface SignedMessage {
  readonly id: string;
  /** Unix seconds of the attempt, as the text in the header. */
  readonly timestamp: string;
  /** Exactly the bytes that are sent. */
  readonly body: Uint8Array;
}

export const SIGNATURE_BYTES = { "hmac-sha256": 32, ed25519: 64 } as const;
