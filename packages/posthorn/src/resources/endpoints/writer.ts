// Writes new and changed endpoints one by one, in the caller's transaction, which has locked the tenant.
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { generateSecret, generateSigningKey, TOKEN_SCHEMES, uuidv7 } from "@posthorn/wire";
import type { TargetSecret, Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type KeyRing, secretBinding } from "../../storage/key-ring.ts";
import { type EndpointRow, findEndpoint } from "../../storage/queries/endpoints/read.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/setting-columns.ts";
import { targetsByIds } from "../../storage/queries/endpoints/targets.ts";
import { insertEndpoint, updateEndpoint } from "../../storage/queries/endpoints/write.ts";
import { deleteHandshake, putHandshake } from "../../storage/queries/handshakes.ts";
import { deleteHealth } from "../../storage/queries/health/record.ts";
import { releaseHeldSubjects } from "../../storage/queries/queue/release.ts";
import { deleteSecretsFor, insertSecret, type SecretTerms } from "../../storage/queries/secrets.ts";
import { isCustomerTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { isOtherHost } from "./authorization-settings.ts";
import { invalidEndpoint } from "./changes.ts";
import { type EndpointDefaults, effectiveSettings } from "./effective-settings.ts";
import { type GivenSecret, quoted } from "./secret-input.ts";
import { fitsAny, isByKeyPair, type ParsedInput, schemesOf } from "./settings.ts";
import { TOKEN, toTarget } from "./targets.ts";

export interface NewEndpoint {
  readonly id: Uuid;
  readonly settings: EndpointSettings;
  /** Returned once as `text`. */
  readonly secret: GivenSecret;
  readonly schemeSecrets: Readonly<Record<string, string>>;
  readonly token: string | null;
}

export type EndpointWriter = ReturnType<typeof createEndpointWriter>;

interface EndpointWriterOptions {
  readonly keyRing: KeyRing;
  readonly defaults: EndpointDefaults;
  /** The database's time. */
  readonly nowMs: () => number;
}

export function createEndpointWriter({ keyRing, defaults, nowMs }: EndpointWriterOptions) {
  return { prepare, insert, update, addSecret, makeSecret, keepSharedFor, checkStillSigned };

  /** Generates keys. Call it before the transaction, so that nothing is locked meanwhile. */
  async function prepare({ secret: given, ...input }: ParsedInput): Promise<NewEndpoint> {
    const schemes = schemesOf(input.settings, defaults);
    const sharing = schemes.filter((name) => input.schemeSecrets[name] === undefined);
    const secret = given ?? (await makeSecret(sharing.length > 0 ? sharing : schemes));
    const pairs = await keyPairsFor(sharing.filter((name) => !fitsAny(secret.value, [name])));
    return { id: uuidv7(nowMs()), ...input, secret, schemeSecrets: { ...input.schemeSecrets, ...pairs } };
  }

  /** Receivers fetch the public key from the well-known URL, so the key pair is never returned. */
  async function keyPairsFor(schemes: readonly string[]): Promise<Record<string, string>> {
    const made = schemes
      .filter(isByKeyPair)
      .map(async (name) => [name, (await generateSigningKey()).signingKey] as const);
    return Object.fromEntries(await Promise.all(made));
  }

  async function insert(tx: Queryable, tenant: string, made: NewEndpoint) {
    if (!isCustomerTenantId(tenant)) throw tenantNotFound(tenant);
    const { id, token } = made;
    const inserted = await insertEndpoint(tx, id, tenant, made.settings);
    await addSecret(tx, id, made.secret.value);
    for (const [usedFor, own] of Object.entries(made.schemeSecrets))
      await addSecret(tx, id, own, { usedFor });
    if (token !== null) await addSecret(tx, id, token, { usedFor: TOKEN });
    if (made.settings.handshake === null) return inserted;
    await putHandshake(tx, id, made.settings.handshake, newCallbackToken());
    return (await findEndpoint(tx, tenant, id)) as EndpointRow;
  }

  /** The caller has locked the endpoint. A null token keeps the current one, unless authorization is removed. */
  async function update(
    tx: Queryable,
    current: EndpointRow,
    settings: EndpointSettings,
    token: string | null,
  ) {
    if (settings.handshake === null) await deleteHandshake(tx, current.id);
    else if (needsNewHandshake(current, settings)) {
      await putHandshake(tx, current.id, settings.handshake, newCallbackToken());
    }
    if (hasOtherSchemes(current, settings)) await addKeyPairs(tx, current.id, schemesOf(settings, defaults));
    if (token !== null || settings.authorization === null) await deleteSecretsFor(tx, current.id, [TOKEN]);
    if (isOtherHost(current.url, settings.url)) await deleteSecretsFor(tx, current.id, TOKEN_SCHEMES);
    if (token !== null) await addSecret(tx, current.id, token, { usedFor: TOKEN });
    const isRestarted = settings.url !== current.url || (settings.isActive && !current.isActive);
    if (isRestarted) await deleteHealth(tx, current.id);
    const { ordering, fifoOnDead } = effectiveSettings(settings, defaults);
    if (ordering !== "fifo" || fifoOnDead !== "hold") await releaseHeldSubjects(tx, current.id);
    return await updateEndpoint(tx, current.id, settings);
  }

  async function addKeyPairs(tx: Queryable, endpointId: Uuid, schemes: readonly string[]): Promise<void> {
    const pairs = await keyPairsFor(withoutSecret(schemes, await secretsOf(tx, endpointId)));
    for (const [usedFor, pair] of Object.entries(pairs)) await addSecret(tx, endpointId, pair, { usedFor });
  }

  async function addSecret(
    tx: Queryable,
    endpointId: Uuid,
    secret: string,
    { usedFor = null, overlapSeconds = null }: Partial<SecretTerms> = {},
  ): Promise<void> {
    const id = uuidv7(nowMs());
    const sealed = keyRing.encrypt(secret, secretBinding(endpointId, id));
    await insertSecret(tx, endpointId, { id, ...sealed }, { usedFor, overlapSeconds });
  }

  /** Generates a secret: `whsk_…` if every scheme signs with an ed25519 key, otherwise `whsec_…`. */
  async function makeSecret(schemes: readonly string[]): Promise<GivenSecret> {
    const value = schemes.every(isByKeyPair) ? (await generateSigningKey()).signingKey : generateSecret();
    return { text: value, value };
  }

  /**
   * Copies the shared secrets that a scheme signs with to the scheme itself, for the overlap, so that its first own secret
   * does not end the old signatures at once. Does nothing if the scheme already has its own secret.
   */
  async function keepSharedFor(
    tx: Queryable,
    current: EndpointRow,
    scheme: string,
    overlapSeconds: number,
  ): Promise<void> {
    const secrets = await secretsOf(tx, current.id);
    const isNew = secrets.every((secret) => secret.scheme !== scheme);
    if (overlapSeconds === 0 || !isNew || !schemesOf(current, defaults).includes(scheme)) return;
    const now = nowMs();
    for (const { value, scheme: owner, expiresAt } of secrets) {
      if (owner !== undefined || !fitsAny(value, [scheme])) continue;
      const left = expiresAt === null ? overlapSeconds : (expiresAt.getTime() - now) / 1000;
      const terms = { usedFor: scheme, overlapSeconds: Math.min(left, overlapSeconds) };
      await addSecret(tx, current.id, value, terms);
    }
  }

  async function secretsOf(tx: Queryable, endpointId: Uuid): Promise<readonly TargetSecret[]> {
    const [row] = await targetsByIds(tx, [endpointId]);
    return row === undefined ? [] : toTarget(row, { defaults, keyRing }).secrets;
  }

  /**
   * Throws if a new scheme has no valid secret that fits, so that no requested signature is missing. For key pair schemes
   * `update` generates one, provided that another scheme already signs.
   */
  async function checkStillSigned(
    tx: Queryable,
    current: EndpointRow,
    next: EndpointSettings,
  ): Promise<void> {
    const schemes = schemesOf(next, defaults);
    const sent = schemes.filter((name) => TOKEN_SCHEMES.includes(name));
    // a key that may change the URL but cannot read the secret must not be able to send the secret elsewhere
    if (sent.length > 0 && isOtherHost(current.url, next.url)) {
      throw invalidEndpoint(
        "/url",
        "The secret is part of each request and was given for another host. Create a new endpoint, or remove the scheme that sends it first.",
      );
    }
    if (!hasOtherSchemes(current, next)) return;
    const before = schemesOf(current, defaults);
    const secrets = await secretsOf(tx, current.id);
    const notGiven = sent.find((name) => !before.includes(name) && ownOf(name, secrets).length === 0);
    // a secret that was given for signing only must not be sent
    if (notGiven !== undefined) {
      throw invalidEndpoint(
        "/signature/schemes",
        `The signature scheme "${notGiven}" sends its secret with each request. Rotate the secret of this scheme first, so that it has its own.`,
      );
    }
    const missing = withoutSecret(schemes, secrets);
    if (missing.length === schemes.length) {
      throw invalidEndpoint(
        "/signature/schemes",
        `No valid secret of this endpoint fits ${quoted(schemes)}. Add the scheme to those in use, check that the ` +
          "receiver verifies it, and then remove the others.",
      );
    }
    const unmade = missing.filter((name) => !isByKeyPair(name));
    if (unmade.length === 0) return;
    throw invalidEndpoint(
      "/signature/schemes",
      `No valid secret of this endpoint fits ${quoted(unmade)}. Rotate the secret with this scheme first, ` +
        "which creates one and returns it.",
    );
  }

  function hasOtherSchemes(current: EndpointRow, next: EndpointSettings): boolean {
    return String(schemesOf(next, defaults)) !== String(schemesOf(current, defaults));
  }
}

/** Returns the schemes that have no secret to sign with. */
function withoutSecret(schemes: readonly string[], secrets: readonly TargetSecret[]): readonly string[] {
  const shared = ownOf(undefined, secrets);
  return schemes.filter((name) => {
    const own = ownOf(name, secrets);
    return !(own.length > 0 ? own : shared).some(({ value }) => fitsAny(value, [name]));
  });
}

function ownOf(scheme: string | undefined, secrets: readonly TargetSecret[]): readonly TargetSecret[] {
  return secrets.filter((secret) => secret.scheme === scheme);
}

/** A denied handshake is repeated after every change to the endpoint. */
function needsNewHandshake({ url, handshake, grant }: EndpointRow, settings: EndpointSettings): boolean {
  const isOther = settings.url !== url || !isDeepStrictEqual(settings.handshake, handshake);
  return isOther || grant === null || grant.state === "denied";
}

function newCallbackToken(): string {
  return randomBytes(24).toString("base64url");
}
