// A body whose bytes something else has taken. Whoever reads it is told who did, and how to get them back.
import { BodyNotRaw } from "../errors.ts";

/** Why a body is usually not raw in a framework, and what to do about it there. */
export interface NotRaw {
  /** A clause: "express.json() ran first". */
  readonly reason: string;
  /** A sentence. */
  readonly fix: string;
}

export function consumedBody({ reason, fix }: NotRaw): AsyncIterable<Uint8Array> {
  const next = () => Promise.reject(new BodyNotRaw(reason, fix));
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
