// Reads targets: endpoints with effective settings and decrypted secrets.
import type { DestinationOf } from "../../destinations/destination.ts";
import { handshakeKind } from "../../destinations/handshake/handshake-webhook.ts";
import { WEBHOOK } from "../../destinations/webhook/webhook.ts";
import type { Filter } from "../../fan-out/filter.ts";
import { parseFilter } from "../../fan-out/parse-filter.ts";
import type {
  AuthorizationType,
  FilterInput,
  FormatContext,
  Target,
  TargetAuthorization,
  TargetSecret,
  Uuid,
} from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type KeyRing, secretBinding } from "../../storage/key-ring.ts";
import {
  newestSecretPerKey,
  type SecretRow,
  type TargetRow,
  targetAt,
  targetsByIds,
  targetsOfTenants,
  targetVersions,
} from "../../storage/queries/endpoints/targets.ts";
import { toDate } from "../page.ts";
import { type EndpointDefaults, effectiveSettings } from "./effective-settings.ts";

export interface TenantTargets {
  /** 0 for a tenant that is not registered. */
  readonly version: number;
  readonly isActive: boolean;
  /** Includes inactive ones, whose deliveries wait. */
  readonly targets: readonly Target[];
}

/** The current settings with the secrets of a past time. The settings differ from those of that time if changed since. */
export interface PastTarget {
  readonly target: Target;
  readonly changedAt: Date;
}

export interface Targets {
  /** For the tenants in `known`, reads only the targets whose version has changed. */
  ofTenants(
    tenants: readonly string[],
    known?: ReadonlyMap<string, readonly Target[]>,
  ): Promise<Map<string, TenantTargets>>;
  /** Returns null for deleted endpoints. */
  byIds(endpointIds: readonly Uuid[]): Promise<Map<Uuid, Target | null>>;
  /** Returns null for a deleted endpoint. */
  at(endpointId: Uuid, at: Date): Promise<PastTarget | null>;
  /**
   * Decrypts one secret of each key in use, and throws if that fails. Called before a worker starts, because with a wrong
   * key ring every delivery would fail.
   */
  checkKeys(): Promise<void>;
}

export interface TargetsOptions {
  readonly db: Queryable;
  readonly keyRing: KeyRing;
  readonly defaults: EndpointDefaults;
  /** See `FormatContext`. */
  readonly dataschemaOf?: FormatContext["dataschemaOf"];
  /** Default: every endpoint is a webhook. */
  readonly destinationOf?: DestinationOf;
}

export function createTargets(options: TargetsOptions): Targets {
  const { db, keyRing } = options;
  return {
    async ofTenants(tenants, known = new Map()) {
      const unknown = [...new Set(tenants)].filter((tenant) => !known.has(tenant));
      const found: Map<string, TenantTargets> = await readAll(unknown);
      for (const [tenant, targets] of known) found.set(tenant, await readChanged(tenant, targets));
      return found;
    },

    byIds,

    async at(endpointId, time) {
      const then = await targetAt(db, endpointId, time);
      // all secrets of that time may have been revoked; use the current ones then
      const row = then?.secrets === null ? (await targetsByIds(db, [endpointId]))[0] : then;
      if (row === null || row === undefined) return null;
      return { target: toTarget(row, options), changedAt: new Date(row.updatedMs) };
    },

    async checkKeys() {
      for (const { endpointId, ...row } of await newestSecretPerKey(db))
        decryptSecret(endpointId, row, keyRing);
    },
  };

  async function readAll(tenants: readonly string[]): Promise<Map<string, TenantTargets>> {
    const found = new Map<string, TenantTargets & { readonly targets: Target[] }>();
    for (const row of tenants.length === 0 ? [] : await targetsOfTenants(db, tenants)) {
      let entry = found.get(row.asked);
      if (entry === undefined) {
        entry = { version: row.routingVersion ?? 0, isActive: row.tenantIsActive ?? true, targets: [] };
        found.set(row.asked, entry);
      }
      if (row.id !== null) entry.targets.push(toTarget(row, options));
    }
    return found;
  }

  /** A change between the two reads increments the tenant's version again, so it is read the next time. */
  async function readChanged(tenant: string, known: readonly Target[]): Promise<TenantTargets> {
    const { routingVersion, isActive, ids, versions } = await targetVersions(db, tenant);
    const before = new Map(known.map((target) => [target.endpointId, target]));
    const others = ids.filter((id, index) => before.get(id)?.version !== versions[index]);
    const read = others.length === 0 ? new Map<Uuid, Target | null>() : await byIds(others);
    const targets = ids.flatMap((id) => (read.has(id) ? read.get(id) : before.get(id)) ?? []);
    return { version: routingVersion, isActive, targets };
  }

  async function byIds(endpointIds: readonly Uuid[]): Promise<Map<Uuid, Target | null>> {
    const found = new Map<Uuid, Target | null>(endpointIds.map((id) => [id, null]));
    for (const row of await targetsByIds(db, endpointIds)) found.set(row.id, toTarget(row, options));
    return found;
  }
}

export function toTarget(
  row: TargetRow,
  { defaults, keyRing, dataschemaOf, destinationOf = webhookOf }: Omit<TargetsOptions, "db">,
): Target {
  const destination = destinationOf(row);
  const {
    name: _name,
    description: _description,
    handshake: _handshake,
    ...settings
  } = effectiveSettings(row, defaults);
  let formatContext: FormatContext | undefined;
  let secrets: readonly TargetSecret[] | undefined;
  let authorization: TargetAuthorization | null | undefined;
  return {
    endpointId: row.id,
    tenant: row.tenant,
    version: row.version,
    ...settings,
    isActive: row.isActive && row.tenantIsActive && destination.mayStart,
    allowedPerMinute: destination.allowedPerMinute,
    filter: readableFilter(row.filter),
    destination,
    health: row.health,
    get formatContext() {
      formatContext ??= {
        ...formatContextOf(row.tenant, defaults),
        envelopeFields: settings.envelopeFields,
        dataschemaOf,
      };
      return formatContext;
    },
    // Decrypted at first use: a process that only publishes needs no key, and a secret that cannot be decrypted must only
    // stop deliveries to its own endpoint.
    get secrets() {
      secrets ??= (row.secrets ?? [])
        .filter(({ usedFor }) => usedFor !== TOKEN)
        .map((secret) => decryptSecret(row.id, secret, keyRing));
      return secrets;
    },
    get authorization() {
      authorization ??=
        row.authorization === null ? null : readAuthorization(row, row.authorization, keyRing);
      return authorization;
    },
  };
}

function formatContextOf(tenant: string, { formatContext }: EndpointDefaults): FormatContext {
  const { source, datarefBase } = formatContext;
  return { source: source.replaceAll("{tenant}", encodeURIComponent(tenant)), datarefBase };
}

const webhookOf: DestinationOf = (row) => handshakeKind(row) ?? WEBHOOK;

/** `usedFor` of the secret that is the authorization token. */
export const TOKEN = "authorization";

function readAuthorization(
  { id, secrets }: TargetRow,
  type: AuthorizationType,
  keyRing: KeyRing,
): TargetAuthorization {
  const found = secrets?.find(({ usedFor }) => usedFor === TOKEN);
  // the token of a past time may have been replaced; it is never shown
  return { type, token: found === undefined ? "" : decryptSecret(id, found, keyRing).value };
}

/** Returns null, which matches all events, for a filter that a later version wrote: too many events are better than lost ones. */
export function readableFilter(filter: FilterInput | null): Filter | null {
  const parsed = filter === null ? null : parseFilter(filter);
  return parsed?.ok ? parsed.filter : null;
}

function decryptSecret(endpointId: Uuid, row: SecretRow, keyRing: KeyRing): TargetSecret {
  const encrypted = { keyId: row.keyId, ciphertext: Buffer.from(row.ciphertextHex, "hex") };
  return {
    value: keyRing.decrypt(encrypted, secretBinding(endpointId, row.id)),
    expiresAt: toDate(row.expiresMs),
    scheme: row.usedFor ?? undefined,
  };
}
