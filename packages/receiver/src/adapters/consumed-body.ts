// A body that was consumed before the receiver saw it. Reading it throws an error that explains why, and how to fix it.
import { BodyNotRaw } from "../errors.ts";

/** The usual cause in a framework, and its fix. */
export interface NotRaw {
  /** A clause: "express.json() ran first". */
  readonly reason: string;
  /** A sentence. */
  readonly fix: string;
}

export function consumedBody({ reason, fix }: NotRaw): AsyncIterable<Uint8Array> {
  return failingBody(new BodyNotRaw(reason, fix));
}

export function failingBody(error: Error): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}
