// The signature schemes by name: our own, HTTP Message Signatures, and those of the vendors whose requests an endpoint can
// imitate.
import { headerNames } from "../headers.ts";
import { vendors } from "../vendors/vendors.ts";
import { LABELLED_NAMES, labelledScheme, sha256, sha512 } from "./body-hmac.ts";
import { rfc9421, rfc9421Ed25519 } from "./message-signatures.ts";
import type { Scheme } from "./scheme.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { standardWebhooksV1a } from "./standard-webhooks-v1a.ts";
import { tV1 } from "./t-v1.ts";
import { twoHeaders } from "./two-headers.ts";

export const schemes = {
  "t-v1": tV1,
  sha256,
  sha512,
  "two-headers": twoHeaders,
  "standard-webhooks": standardWebhooks,
  "standard-webhooks-v1a": standardWebhooksV1a,
} as const satisfies Readonly<Record<string, Scheme>>;

export type SchemeName = keyof typeof schemes;

/** Stripe's SDK verifies the first, every Standard Webhooks library the second. */
export const DEFAULT_SCHEMES: readonly SchemeName[] = ["t-v1", "standard-webhooks"];

const vendorsByName = new Map<string, Scheme>(
  Object.entries(vendors).map(([name, { scheme }]) => [name, scheme]),
);
const byName = new Map<string, Scheme>([
  ...Object.entries(schemes),
  ...[rfc9421, rfc9421Ed25519].map((scheme) => [scheme.name, scheme] as const),
  ...vendorsByName,
]);

/** All names without a label: our own, HTTP Message Signatures, then the vendors'. */
export const schemeNames: readonly string[] = [...byName.keys()];

/** Returns whether it is a vendor's scheme: a request signed only by such schemes has none of Posthorn's headers. */
export function isVendorScheme(name: string): boolean {
  return vendorsByName.has(name);
}

/** Schemes that send the secret itself, which must not be displayed or sent elsewhere. */
export const TOKEN_SCHEMES: readonly string[] = [...byName.values()]
  .filter(({ algorithm }) => algorithm === "token")
  .map(({ name }) => name);

/** The lower-case names of the headers that these schemes write, without companions, which may be replaced. */
export function schemeHeaders(names: readonly string[], prefix?: string): ReadonlySet<string> {
  return new Set(names.flatMap((name) => writtenBy(findScheme(name), prefix)).map(lowerCase));
}

function writtenBy(scheme: Scheme | undefined, prefix?: string): readonly string[] {
  if (scheme === undefined) return [];
  const { headers, writes = [] } = scheme;
  return [...Object.values(headers).map((header) => header(headerNames(prefix))), ...writes];
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}

/** The headers that a scheme adds to a request: the signature first, then the others. */
export function headersAddedBy(name: string, prefix?: string): readonly string[] {
  const { headers, writes = [], companions = {} } = schemeNamed(name);
  const { signature, id, timestamp } = headers;
  const own = [signature, id, timestamp].flatMap((header) => header?.(headerNames(prefix)) ?? []);
  return [...own, ...writes, ...Object.keys(companions)];
}

export function findScheme(name: string): Scheme | undefined {
  return byName.get(name) ?? labelledScheme(name);
}

/** For names that were validated when they were saved. */
export function schemeNamed(name: string): Scheme {
  const scheme = findScheme(name);
  if (scheme === undefined) throw new Error(`There is no signature scheme "${name}". ${knownNames()}`);
  return scheme;
}

/** The problems with a choice of schemes, as sentences; empty if one request can carry them all. */
export function schemeProblems(names: readonly string[], prefix?: string): string[] {
  if (names.length === 0) return ["At least one signature scheme is needed; nothing is sent unsigned."];
  const problems: string[] = [];
  const writers = new Map<string, Scheme>();
  for (const name of names) {
    const scheme = findScheme(name);
    if (scheme === undefined) {
      problems.push(`There is no signature scheme "${name}". ${labelRule(name)}${knownNames()}`);
      continue;
    }
    const header = scheme.headers.signature(headerNames(prefix));
    const other = writers.get(header.toLowerCase());
    if (other !== undefined && (other === scheme || !scheme.shares || !other.shares)) {
      problems.push(`The signature schemes "${other.name}" and "${name}" both write ${header}; choose one.`);
    }
    writers.set(header.toLowerCase(), scheme);
  }
  return [...problems, ...prefixProblems(names, prefix)];
}

/** A prefix that turns our own headers into a vendor's: they would be sent twice, and no receiver could read them. */
function prefixProblems(names: readonly string[], prefix?: string): string[] {
  if (names.every(isVendorScheme)) return [];
  const { id, timestamp, event, deliveryId, attempt } = headerNames(prefix);
  const own = new Set([id, timestamp, event, deliveryId, attempt].map(lowerCase));
  return names.filter(isVendorScheme).flatMap((name) => {
    const scheme = byName.get(name);
    const written = [...writtenBy(scheme), ...Object.keys(scheme?.companions ?? {})];
    const taken = written.find((header) => own.has(lowerCase(header)));
    return taken === undefined
      ? []
      : [`The header prefix makes ${taken}, which the signature scheme "${name}" writes; choose another.`];
  });
}

function knownNames(): string {
  return `Choose from ${[...byName.keys()].join(", ")}, ${LABELLED_NAMES}.`;
}

function labelRule(name: string): string {
  return /^(?:sha256|sha512|two-headers):/.test(name)
    ? "A label has 1 to 32 letters, digits, dots, hyphens and underscores. "
    : "";
}
