// How a request that is signed with a vendor's scheme differs from ours besides the signature: it has the vendor's companion
// headers, and for some vendors a URL with the body's digest.
import { createHash } from "node:crypto";
import {
  type Companion,
  headerNames,
  isVendorScheme,
  type Scheme,
  schemeHeaders,
  schemeNamed,
} from "@posthorn/wire";
import type { SignatureSettings } from "../../model.ts";
import type { SendableDelivery } from "../destination.ts";

export interface VendorStyle {
  /** False if every scheme is a vendor's: our own headers would identify the sender. */
  readonly hasOwnHeaders: boolean;
  readonly companions: readonly (readonly [header: string, companion: Companion])[];
  /** Lower-case names of signature headers other than our own, which no custom header may replace. */
  readonly reserved: ReadonlySet<string>;
  readonly urlToSend: Scheme["urlToSend"];
  /** Headers that contain a secret in plain text. */
  readonly tokens: readonly string[];
}

/** Keyed by the target's own list of schemes: 20 ns per delivery. */
const known = new WeakMap<readonly string[], VendorStyle>();

export function vendorStyleOf({ schemes }: SignatureSettings): VendorStyle {
  let found = known.get(schemes);
  if (found === undefined) {
    found = describe(schemes);
    known.set(schemes, found);
  }
  return found;
}

function describe(names: readonly string[]): VendorStyle {
  const special = names.filter((name) => isVendorScheme(name) || schemeNamed(name).isMessageSignature);
  const schemes = special.map(schemeNamed);
  return {
    hasOwnHeaders: !names.every(isVendorScheme),
    companions: schemes.flatMap(({ companions }) => Object.entries(companions ?? {})),
    reserved: schemeHeaders(special),
    urlToSend: schemes.find(({ urlToSend }) => urlToSend !== undefined)?.urlToSend,
    tokens: schemes.flatMap(({ algorithm, headers }) =>
      algorithm === "token" ? [headers.signature(headerNames())] : [],
    ),
  };
}

/** Adds the companion headers before the custom headers, which may replace them because they are not signed. */
export function addCompanions(
  headers: Record<string, string>,
  { companions }: VendorStyle,
  delivery: Pick<SendableDelivery, "event" | "attempts">,
  custom: Readonly<Record<string, string>>,
): void {
  const replaced = new Set(Object.keys(custom).map((name) => name.toLowerCase()));
  for (const [header, companion] of companions) {
    if (!replaced.has(header.toLowerCase())) headers[header] = textOf(companion, delivery);
  }
}

function textOf(
  companion: Companion,
  { event, attempts }: Pick<SendableDelivery, "event" | "attempts">,
): string {
  if (typeof companion === "object") return companion.fixed;
  if (companion === "uuid") return event.id;
  if (companion === "type") return event.type;
  if (companion === "topic") return event.type.replaceAll(".", "/");
  return companion === "retry" ? String(attempts) : event.createdAt.toISOString();
}

export function digestOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
