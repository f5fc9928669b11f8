// Signs with Web Crypto, for test requests, tools and the browser.
import { encode } from "../encoding.ts";
import { headerNames } from "../headers.ts";
import type { Secret } from "./keys.ts";
import type { Scheme, SignedMessage } from "./scheme.ts";
import { schemeNamed } from "./schemes.ts";
import { keyFor, signBytes, signedPartsOf } from "./web-crypto.ts";
import { writeSignatureHeaders } from "./write-headers.ts";

export interface SignInput extends SignedMessage {
  readonly schemes: readonly (Scheme | string)[];
  /** Ordered by expiry, soonest first. */
  readonly secrets: readonly Secret[];
  readonly headerPrefix?: string;
}

/** Returns the signature headers of a request. Throws if a scheme has no usable secret. */
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

/** Signs a text alone, as some vendors' verification requests require. Throws if the secret is not usable. */
export async function signText(scheme: Scheme, secret: Secret, text: string): Promise<string> {
  const message = { id: "", timestamp: "", body: new TextEncoder().encode(text) };
  const ofBody: Scheme = { ...scheme, signedParts: ({ body }) => [body] };
  const [signature] = await signaturesOf(ofBody, { ...message, schemes: [ofBody], secrets: [secret] });
  return signature as string;
}

async function signaturesOf(scheme: Scheme, input: SignInput): Promise<string[]> {
  const [content = []] = signedPartsOf(scheme, input);
  const signatures: string[] = [];
  for (const secret of input.secrets) {
    const key = await keyFor(scheme, secret, "sign");
    if (key !== null) signatures.push(encode(scheme.encoding, await signBytes(scheme, key, content)));
  }
  if (signatures.length === 0)
    throw new Error(`None of the secrets can sign for the scheme "${scheme.name}".`);
  return signatures;
}
