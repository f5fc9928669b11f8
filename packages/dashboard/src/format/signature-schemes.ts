// The signature schemes that an endpoint can have, by who knows them: all from the one list there is.
import { headersAddedBy, isVendorScheme, schemeNamed, schemeNames } from "@posthorn/wire";

export type SchemeKind = "own" | "message" | "vendor";

export function kindOf(scheme: string): SchemeKind {
  if (isVendorScheme(scheme)) return "vendor";
  return schemeNamed(scheme).isMessageSignature ? "message" : "own";
}

export const SCHEMES_BY_KIND: Readonly<Record<SchemeKind, readonly string[]>> = {
  own: schemeNames.filter((name) => kindOf(name) === "own"),
  message: schemeNames.filter((name) => kindOf(name) === "message"),
  vendor: schemeNames.filter((name) => kindOf(name) === "vendor"),
};

/** Names of the headers, the signature's first; none for a scheme of a later version. */
export function headersOf(scheme: string, prefix: string): readonly string[] {
  if (!schemeNames.includes(scheme)) return [];
  return headersAddedBy(scheme, prefix.trim() === "" ? undefined : prefix.trim());
}

/** Verified with a public key, which the server publishes. */
export function isByKeyPair(scheme: string): boolean {
  return schemeNames.includes(scheme) && schemeNamed(scheme).key === "ed25519";
}

/** Also the URL is signed, so a receiver has to know what it was called by. */
export function signsUrl(scheme: string): boolean {
  if (!schemeNames.includes(scheme)) return false;
  const { signedUrls, isMessageSignature } = schemeNamed(scheme);
  return signedUrls !== undefined || isMessageSignature === true;
}
