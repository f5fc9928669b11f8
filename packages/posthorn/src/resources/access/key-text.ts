// The format of keys: `phk_` (`pht_` for a member's token), a public id, the secret, and a checksum. The checksum lets
// servers and secret scanners recognise a key without the database. One-time links (`phl_`) and sessions (`phs_`) have the
// same format, but are not keys.
import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 10;
/** 190 bits. */
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const SYNTAX = /^(ph[klst])_([0-9A-Za-z]{10})_[0-9A-Za-z]{38}$/;

export type KeyKind = "phk" | "pht" | "phl" | "phs";

export interface MintedKey {
  readonly id: string;
  readonly text: string;
  readonly digest: Buffer;
}

export function mintKey(kind: KeyKind, id = randomText(ID_LENGTH)): MintedKey {
  const unchecked = `${kind}_${id}_${randomText(SECRET_LENGTH)}`;
  const text = unchecked + checksumOf(unchecked);
  return { id, text, digest: keyDigest(text) };
}

/** Returns null if the text is not a key or token of Posthorn. */
export function keyIdOf(text: string): string | null {
  return idOf(text, "phk") ?? idOf(text, "pht");
}

/** Returns null if the text is not of that kind. */
export function idOf(text: string, kind: KeyKind): string | null {
  const [, given, id = null] = SYNTAX.exec(text) ?? [];
  return given === kind && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
    ? id
    : null;
}

export function keyDigest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
