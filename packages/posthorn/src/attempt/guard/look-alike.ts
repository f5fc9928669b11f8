// What a request has besides its signature when it is to look like somebody else's: their companion headers in place of
// ours, and for some a URL that holds the body's digest.
import { createHash } from "node:crypto";
import {
  type Companion,
  headerNames,
  isVendorScheme,
  type Scheme,
  schemeHeaders,
  schemeNamed,
} from "@posthorn/wire";
import type { Sendable, SignatureSettings } from "../../model.ts";

export interface LookAlike {
  /** False where every scheme is a vendor's: then ours would give the sender away. */
  readonly hasOwnHeaders: boolean;
  readonly companions: readonly (readonly [header: string, companion: Companion])[];
  /** Headers of signatures under other names than our own, which no custom header may replace; in lower case. */
  readonly reserved: ReadonlySet<string>;
  readonly urlToSend: Scheme["urlToSend"];
  /** Headers in which a secret is sent as it is. */
  readonly tokens: readonly string[];
}

const PLAIN: LookAlike = {
  hasOwnHeaders: true,
  companions: [],
  reserved: new Set(),
  urlToSend: undefined,
  tokens: [],
};
/** By the settings' own list, which a target keeps as long as it lives: 20 ns a delivery. */
const known = new WeakMap<readonly string[], LookAlike>();

export function lookAlikeOf({ schemes }: SignatureSettings): LookAlike {
  let found = known.get(schemes);
  if (found === undefined) {
    found = describe(schemes);
    known.set(schemes, found);
  }
  return found;
}

function describe(names: readonly string[]): LookAlike {
  const special = names.filter((name) => isVendorScheme(name) || schemeNamed(name).isMessageSignature);
  if (special.length === 0) return PLAIN;
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

/** Before the custom headers, which may replace them: nothing signs them. */
export function addCompanions(
  headers: Record<string, string>,
  { companions }: LookAlike,
  delivery: Pick<Sendable, "event" | "attempts">,
  custom: Readonly<Record<string, string>>,
): void {
  if (companions.length === 0) return;
  const replaced = new Set(Object.keys(custom).map((name) => name.toLowerCase()));
  for (const [header, companion] of companions) {
    if (!replaced.has(header.toLowerCase())) headers[header] = textOf(companion, delivery);
  }
}

function textOf(companion: Companion, { event, attempts }: Pick<Sendable, "event" | "attempts">): string {
  if (typeof companion === "object") return companion.fixed;
  if (companion === "uuid") return event.id;
  if (companion === "type") return event.type;
  if (companion === "topic") return event.type.replaceAll(".", "/");
  return companion === "retry" ? String(attempts) : event.createdAt.toISOString();
}

export function digestOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
