// The signature schemes by kind.
import { findScheme, headersAddedBy, isVendorScheme, schemeNames } from "@posthorn/wire";

export type SchemeKind = "own" | "message" | "vendor";

export function kindOf(scheme: string): SchemeKind {
  if (isVendorScheme(scheme)) return "vendor";
  return findScheme(scheme)?.isMessageSignature ? "message" : "own";
}

export const SCHEMES_BY_KIND: Readonly<Record<SchemeKind, readonly string[]>> = {
  own: schemeNames.filter((name) => kindOf(name) === "own"),
  message: schemeNames.filter((name) => kindOf(name) === "message"),
  vendor: schemeNames.filter((name) => kindOf(name) === "vendor"),
};

/** The header names, signature first; none for an unknown scheme. */
export function headersOf(scheme: string, prefix: string): readonly string[] {
  if (findScheme(scheme) === undefined) return [];
  return headersAddedBy(scheme, prefix.trim() === "" ? undefined : prefix.trim());
}

/** Whether the scheme is verified with a public key. */
export function isByKeyPair(scheme: string): boolean {
  return findScheme(scheme)?.key === "ed25519";
}

/** Whether the scheme has a label of its own, such as `sha256:sha256_v2`, or is not known. */
export function isOtherScheme(scheme: string): boolean {
  return !schemeNames.includes(scheme);
}
