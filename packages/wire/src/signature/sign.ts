// Signing where there is no node:crypto: test requests for a receiver, tools, the browser.
import { encode } from "../encoding.ts";
import { headerNames } from "../headers.ts";
import type { Scheme, SignedMessage } from "./scheme.ts";
import { schemeNamed } from "./schemes.ts";
import { signBytes, signedContents, signingKey } from "./web-crypto.ts";
import { writeSignatureHeaders } from "./write-headers.ts";

export interface SignInput extends SignedMessage {
  readonly schemes: readonly (Scheme | string)[];
  /** The one that retires soonest first. */
  readonly secrets: readonly string[];
  readonly headerPrefix?: string;
}

/** The signature headers of a request. Throws when a scheme finds no secret it can sign with. */
export async function sign(input: SignInput): Promise<Record<string, string>> {
  const names = headerNames(input.headerPrefix);
  const headers: Record<string, string> = {};
  for (const chosen of input.schemes) {
    const scheme = typeof chosen === "string" ? schemeNamed(chosen) : chosen;
    const signatures = await signaturesOf(scheme, input);
    writeSignatureHeaders(headers, scheme, names, input, signatures);
  }
  return headers;
}

/** Of a text alone, as some senders want their question answered. Throws when the scheme cannot sign with the secret. */
export async function signText(scheme: Scheme, secret: string, text: string): Promise<string> {
  const message = { id: "", timestamp: "", body: new TextEncoder().encode(text) };
  const ofBody: Scheme = { ...scheme, signedParts: ({ body }) => [body] };
  const [signature] = await signaturesOf(ofBody, { ...message, schemes: [ofBody], secrets: [secret] });
  return signature as string;
}

async function signaturesOf(scheme: Scheme, input: SignInput): Promise<string[]> {
  const [content] = signedContents(scheme, input) as [Uint8Array<ArrayBuffer>];
  const signatures: string[] = [];
  for (const secret of input.secrets) {
    const key = await signingKey(scheme, secret);
    if (key !== null) signatures.push(encode(scheme.encoding, await signBytes(scheme, key, content)));
  }
  if (signatures.length === 0)
    throw new Error(`None of the secrets can sign for the scheme "${scheme.name}".`);
  return signatures;
}
