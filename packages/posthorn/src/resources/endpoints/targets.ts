// Endpoints as the delivering side sees them: settings filled in, secrets readable.
import { type DestinationOf, registerDestinations } from "../../destinations/destination.ts";
import { handshakeKind } from "../../destinations/handshake/handshake-webhook.ts";
import { webhookKind } from "../../destinations/webhook/webhook.ts";
import type { Filter } from "../../fan-out/filter.ts";
import { parseFilter } from "../../fan-out/parse-filter.ts";
import type {
  AuthorizationType,
  FilterInput,
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
import { type EndpointDefaults, effectiveSettings } from "./effective-settings.ts";

export interface TenantTargets {
  /** 0 for a tenant that is not registered. */
  readonly version: number;
  readonly isActive: boolean;
  /** Inactive ones too: what they are owed waits for them. */
  readonly targets: readonly Target[];
}

/** Settings of now, which are those of then unless it was changed in between. */
export interface PastTarget {
  readonly target: Target;
  readonly changedAt: Date;
}

export interface Targets {
  /** Of the tenants in `known` what has the same version is taken from there, and the rest is read. */
  ofTenants(
    tenants: readonly string[],
    known?: ReadonlyMap<string, readonly Target[]>,
  ): Promise<Map<string, TenantTargets>>;
  /** Null for one that was deleted. */
  byIds(endpointIds: readonly Uuid[]): Promise<Map<Uuid, Target | null>>;
  /** With the secrets of that time. Null for one that was deleted. */
  at(endpointId: Uuid, at: Date): Promise<PastTarget | null>;
  /**
   * Decrypts one secret of each key in use, and throws if one cannot be: asked before a worker starts, because a wrong
   * key ring would fail every delivery.
   */
  checkKeys(): Promise<void>;
}

export interface TargetsOptions {
  readonly db: Queryable;
  readonly keyRing: KeyRing;
  readonly defaults: EndpointDefaults;
  /** Default: every endpoint is a webhook. */
  readonly destinationOf?: DestinationOf;
}

export function createTargets({ db, keyRing, defaults, destinationOf = WEBHOOKS }: TargetsOptions): Targets {
  return { ofTenants, byIds, at, checkKeys };

  async function ofTenants(
    tenants: readonly string[],
    known: ReadonlyMap<string, readonly Target[]> = new Map(),
  ): Promise<Map<string, TenantTargets>> {
    const unknown = [...new Set(tenants)].filter((tenant) => !known.has(tenant));
    const found: Map<string, TenantTargets> = await wholly(unknown);
    for (const [tenant, targets] of known) found.set(tenant, await changed(tenant, targets));
    return found;
  }

  async function wholly(tenants: readonly string[]): Promise<Map<string, TenantTargets>> {
    const found = new Map<string, TenantTargets & { readonly targets: Target[] }>();
    for (const row of tenants.length === 0 ? [] : await targetsOfTenants(db, tenants)) {
      let entry = found.get(row.asked);
      if (entry === undefined) {
        entry = { version: row.routingVersion ?? 0, isActive: row.tenantIsActive ?? true, targets: [] };
        found.set(row.asked, entry);
      }
      if (row.id !== null) entry.targets.push(toTarget(row, { defaults, keyRing, destinationOf }));
    }
    return found;
  }

  /** What changes between the two reads has raised the tenant's version once more, and is read again. */
  async function changed(tenant: string, known: readonly Target[]): Promise<TenantTargets> {
    const { routingVersion, isActive, ids, versions } = await targetVersions(db, tenant);
    const before = new Map(known.map((target) => [target.endpointId, target]));
    const others = ids.filter((id, index) => before.get(id)?.version !== versions[index]);
    const read = others.length === 0 ? new Map<Uuid, Target | null>() : await byIds(others);
    const targets = ids.flatMap((id) => (read.has(id) ? read.get(id) : before.get(id)) ?? []);
    return { version: routingVersion, isActive, targets };
  }

  async function byIds(endpointIds: readonly Uuid[]): Promise<Map<Uuid, Target | null>> {
    const found = new Map<Uuid, Target | null>(endpointIds.map((id) => [id, null]));
    for (const row of await targetsByIds(db, endpointIds))
      found.set(row.id, toTarget(row, { defaults, keyRing, destinationOf }));
    return found;
  }

  async function at(endpointId: Uuid, time: Date): Promise<PastTarget | null> {
    const then = await targetAt(db, endpointId, time);
    // all may have been revoked since: those of now are the best there is then
    const row = then?.secrets === null ? (await targetsByIds(db, [endpointId]))[0] : then;
    if (row === null || row === undefined) return null;
    return {
      target: toTarget(row, { defaults, keyRing, destinationOf }),
      changedAt: new Date(row.updatedMs),
    };
  }

  async function checkKeys(): Promise<void> {
    for (const { endpointId, ...row } of await newestSecretPerKey(db))
      decryptSecret(endpointId, row, keyRing);
  }
}

export function toTarget(
  row: TargetRow,
  { defaults, keyRing, destinationOf = WEBHOOKS }: Omit<TargetsOptions, "db">,
): Target {
  const destination = destinationOf(row);
  const { description: _description, handshake: _handshake, ...settings } = effectiveSettings(row, defaults);
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
      const { source, datarefBase } = defaults.formatContext;
      return { source: source.replaceAll("{tenant}", encodeURIComponent(row.tenant)), datarefBase };
    },
    // At first use: a process that only publishes needs no key, and a secret that does not decrypt stops the sending to
    // its own endpoint, not the reading of everybody's routes.
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

const WEBHOOKS = registerDestinations([handshakeKind, webhookKind]);

/** What a token's row is for. */
export const TOKEN = "authorization";

function readAuthorization(
  { id, secrets }: TargetRow,
  type: AuthorizationType,
  keyRing: KeyRing,
): TargetAuthorization {
  const found = secrets?.find(({ usedFor }) => usedFor === TOKEN);
  // replaced since the time that was asked for; it is shown to nobody
  return { type, token: found === undefined ? "" : decryptSecret(id, found, keyRing).value };
}

/** One that a later version wrote, and this one cannot read, lets all events through: more is better than lost. */
export function readableFilter(filter: FilterInput | null): Filter | null {
  const parsed = filter === null ? null : parseFilter(filter);
  return parsed?.ok ? parsed.filter : null;
}

function decryptSecret(endpointId: Uuid, row: SecretRow, keyRing: KeyRing): TargetSecret {
  const encrypted = { keyId: row.keyId, ciphertext: Buffer.from(row.ciphertextHex, "hex") };
  return {
    value: keyRing.decrypt(encrypted, secretBinding(endpointId, row.id)),
    expiresAt: row.expiresMs === null ? null : new Date(row.expiresMs),
    scheme: row.usedFor ?? undefined,
  };
}
