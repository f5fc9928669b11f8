// A message as one string, because a client may only handle strings: the body is base64.
import type { Message } from "../../model.ts";

export function writeRecord(message: Message): string {
  const { body, createdAt, ...rest } = message;
  return JSON.stringify({ ...rest, createdAt: createdAt?.getTime() ?? null, body: toBase64(body) });
}

export function readRecord(text: string): Message {
  const { body, createdAt, ...rest } = JSON.parse(text);
  return { ...rest, createdAt: createdAt === null ? null : new Date(createdAt), body: fromBase64(body) };
}

/** The number of arguments of a call is limited, so bytes are converted in chunks. */
const PIECE_BYTES = 0x8000;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
