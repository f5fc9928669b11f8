// Parts that the templates of all languages share.
import type { SchemeFacts } from "../scheme-facts.ts";

/** Requests that are older, or from the future by as much, are rejected. */
export const TOLERANCE_SECONDS = 300;

/** Returns the code that verifies requests of the scheme. */
export type Template = (facts: SchemeFacts) => string;

/** Joins lines. A line that is false is left out. */
export function code(...lines: readonly (string | false)[]): string {
  return `${lines.filter((line) => line !== false).join("\n")}\n`;
}

export interface Shape {
  readonly isToken: boolean;
  readonly isByKeyPair: boolean;
  readonly isHmac: boolean;
  readonly needsId: boolean;
  readonly needsUrl: boolean;
  /** Where the timestamp is, or null if it is not in a header. */
  readonly timestampHeader: string | null;
  readonly timestampPrefix: string | null;
  readonly timeFormat: "seconds" | "milliseconds" | "rfc3339" | null;
  /** `sha256`, `sha512` or `sha1`. */
  readonly hash: string;
  readonly keyPrefix: string;
}

export function shapeOf({ algorithm, timestamp, signed, idHeader }: SchemeFacts): Shape {
  const isToken = algorithm === "token";
  const isByKeyPair = algorithm === "ed25519";
  return {
    isToken,
    isByKeyPair,
    isHmac: !isToken && !isByKeyPair,
    needsId: idHeader !== null && signed.includes("{id}"),
    needsUrl: signed.includes("{url}"),
    timestampHeader: timestamp !== null && "header" in timestamp ? timestamp.header : null,
    timestampPrefix: timestamp !== null && "prefix" in timestamp ? timestamp.prefix : null,
    timeFormat: timestamp?.format ?? null,
    hash: algorithm.replace("hmac-", ""),
    keyPrefix: isByKeyPair ? "whpk_" : "whsec_",
  };
}

/** The signed text in a language: literal pieces and values by the given expressions. */
export function signedIn(
  { signed }: SchemeFacts,
  values: Readonly<Record<"id" | "timestamp" | "body" | "method" | "url", string>>,
  literal: (text: string) => string,
): string[] {
  return signed.map((piece) => {
    const name = /^\{([a-z]+)\}$/.exec(piece)?.[1];
    return name === undefined ? literal(piece) : values[name as keyof typeof values];
  });
}

/** What the caller has to check in addition, as sentences. */
export function notesOf({ timeInBody, timestamp, scheme }: SchemeFacts): string[] {
  if (timeInBody !== null)
    return [`The body has the time in ${timeInBody}: reject it if it is off by more than five minutes.`];
  if (scheme === "hubspot") return ["url: with the escapes of : / ? @ ! $ ' ( ) * , and ; decoded."];
  return timestamp === null ? ["No time is signed: only remembered event ids prevent a replay."] : [];
}
