// The signature schemes by kind.
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

/** The header names, signature first; none for an unknown scheme. */
export function headersOf(scheme: string, prefix: string): readonly string[] {
  if (!schemeNames.includes(scheme)) return [];
  return headersAddedBy(scheme, prefix.trim() === "" ? undefined : prefix.trim());
}

/** Whether the scheme is verified with a public key. */
export function isByKeyPair(scheme: string): boolean {
  return schemeNames.includes(scheme) && schemeNamed(scheme).key === "ed25519";
}
