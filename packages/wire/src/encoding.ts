// Base64, hex and text without node:buffer. Strict: each value has one encoding, others are rejected.

// Patterns for invalid characters: patterns for the whole text overflowed the stack at some millions of characters.
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
/** The last character before the padding contains bits that belong to no byte. */
const HAS_UNUSED_BITS = /(?:[^AQgw]=|[^AEIMQUYcgkosw048=])=$/;
const NOT_HEX = /[^0-9a-f]/;

/** The two digits of each byte. */
export const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export type Encoding = "hex" | "base64" | "text";

export function encode(encoding: Encoding, bytes: Uint8Array): string {
  if (encoding === "text") return new TextDecoder().decode(bytes);
  if (encoding === "base64") return btoa(asBinary(bytes));
  let hex = "";
  for (const byte of bytes) hex += HEX[byte];
  return hex;
}

/** In chunks, because the number of arguments is limited and data may have 256 KB. */
function asBinary(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}

/** Lower-case hex, or standard padded base64 whose unused bits are zero; null for any other spelling. */
export function decode(encoding: Encoding, text: string): Uint8Array<ArrayBuffer> | null {
  if (encoding === "text") return new TextEncoder().encode(text);
  return encoding === "base64" ? decodeBase64(text) : decodeHex(text);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const padding = text.endsWith("==") ? 2 : Number(text.endsWith("="));
  if (text.length % 4 !== 0 || NOT_BASE64.test(text.slice(0, text.length - padding))) return null;
  if (padding > 0 && HAS_UNUSED_BITS.test(text)) return null;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 2 !== 0 || NOT_HEX.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

const encoder = new TextEncoder();

/** Joins bytes and texts, the latter as UTF-8. */
export function concat(parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const pieces = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
