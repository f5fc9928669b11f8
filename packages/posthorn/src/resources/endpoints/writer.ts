// Writes new and changed endpoints one by one, in the caller's transaction, which has locked the tenant.
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { generateSecret, generateSigningKey, TOKEN_SCHEMES, uuidv7 } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { TargetSecret, Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type KeyRing, secretBinding } from "../../storage/key-ring.ts";
import type { EndpointRow } from "../../storage/queries/endpoints/endpoint-row.ts";
import { findEndpoint } from "../../storage/queries/endpoints/read.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/setting-columns.ts";
import { targetsByIds } from "../../storage/queries/endpoints/targets.ts";
import { insertEndpoint, updateEndpoint } from "../../storage/queries/endpoints/write.ts";
import { deleteHandshake, putHandshake } from "../../storage/queries/handshakes/put.ts";
import { deleteHealth } from "../../storage/queries/health/record.ts";
import { releaseHeldSubjects } from "../../storage/queries/queue/release-subjects.ts";
import { deleteSecretsFor, insertSecret, type SecretTerms } from "../../storage/queries/secrets/rotate.ts";
import { isCustomerTenantId, tenantNotFound } from "../tenants/tenants.ts";
import { isOtherHost } from "./authorization-settings.ts";
import type { EndpointDefaults } from "./effective-settings.ts";
import { fitsAny, isByKeyPair, type ParsedInput, schemesOf } from "./settings.ts";
import { TOKEN, toTarget } from "./targets.ts";

export interface NewEndpoint {
  readonly id: Uuid;
  readonly settings: EndpointSettings;
  readonly secret: string;
  readonly schemeSecrets: Readonly<Record<string, string>>;
  readonly token: string | null;
}

export interface EndpointWriter {
  /** Generates keys. Call it before the transaction, so that nothing is locked meanwhile. */
  prepare(input: ParsedInput): Promise<NewEndpoint>;
  insert(tx: Queryable, tenant: string, endpoint: NewEndpoint): Promise<EndpointRow>;
  /** The caller has locked the endpoint. A null token keeps the current one, unless authorization is removed. */
  update(
    tx: Queryable,
    current: EndpointRow,
    settings: EndpointSettings,
    token: string | null,
  ): Promise<EndpointRow>;
  addSecret(tx: Queryable, endpointId: Uuid, secret: string, terms?: Partial<SecretTerms>): Promise<void>;
  /** Generates a secret: `whsk_…` if every scheme signs with an ed25519 key, otherwise `whsec_…`. */
  makeSecret(schemes: readonly string[]): Promise<string>;
  /**
   * Copies the shared secrets that a scheme signs with to the scheme itself, for the overlap, so that its first own secret
   * does not end the old signatures at once. Does nothing if the scheme already has a secret of its own.
   */
  keepSharedFor(tx: Queryable, current: EndpointRow, scheme: string, overlapSeconds: number): Promise<void>;
  /**
   * Throws if a new scheme has no valid secret that fits, so that no requested signature is missing. For key pair schemes
   * `update` generates one, provided that another scheme already signs.
   */
  checkStillSigned(tx: Queryable, current: EndpointRow, next: EndpointSettings): Promise<void>;
}

export interface EndpointWriterOptions {
  readonly keyRing: KeyRing;
  readonly defaults: EndpointDefaults;
  /** The database's time. */
  readonly nowMs: () => number;
}

export function createEndpointWriter({ keyRing, defaults, nowMs }: EndpointWriterOptions): EndpointWriter {
  return { prepare, insert, update, addSecret, makeSecret, keepSharedFor, checkStillSigned };

  async function prepare({ secret: given, ...input }: ParsedInput): Promise<NewEndpoint> {
    const schemes = schemesOf(input.settings, defaults);
    const sharing = schemes.filter((name) => input.schemeSecrets[name] === undefined);
    const secret = given ?? (await makeSecret(sharing.length > 0 ? sharing : schemes));
    const pairs = await keyPairsFor(sharing.filter((name) => !fitsAny(secret, [name])));
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
    await addSecret(tx, id, made.secret);
    for (const [usedFor, own] of Object.entries(made.schemeSecrets))
      await addSecret(tx, id, own, { usedFor });
    if (token !== null) await addSecret(tx, id, token, { usedFor: TOKEN });
    if (made.settings.handshake === null) return inserted;
    await putHandshake(tx, id, made.settings.handshake, newCallbackToken());
    return (await findEndpoint(tx, tenant, id)) as EndpointRow;
  }

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
    const isAnew = settings.url !== current.url || (settings.isActive && !current.isActive);
    if (isAnew) await deleteHealth(tx, current.id);
    if (settings.ordering !== "fifo" || settings.fifoOnDead !== "hold")
      await releaseHeldSubjects(tx, current.id);
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

  async function makeSecret(schemes: readonly string[]): Promise<string> {
    return schemes.every(isByKeyPair) ? (await generateSigningKey()).signingKey : generateSecret();
  }

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

  async function checkStillSigned(
    tx: Queryable,
    current: EndpointRow,
    next: EndpointSettings,
  ): Promise<void> {
    const schemes = schemesOf(next, defaults);
    const sent = schemes.filter((name) => TOKEN_SCHEMES.includes(name));
    if (sent.length > 0 && isOtherHost(current.url, next.url)) throw tokenOfOtherHost();
    if (!hasOtherSchemes(current, next)) return;
    const before = schemesOf(current, defaults);
    const secrets = await secretsOf(tx, current.id);
    const notGiven = sent.find((name) => !before.includes(name) && ownOf(name, secrets).length === 0);
    if (notGiven !== undefined) throw tokenNotGiven(notGiven);
    const missing = withoutSecret(schemes, secrets);
    if (missing.length === schemes.length) {
      throw invalid(
        "/signature/schemes",
        `No valid secret of this endpoint fits ${schemes.join(", ")}. Add the scheme to those in use, check that the ` +
          "receiver verifies it, and then remove the others.",
      );
    }
    const unmade = missing.filter((name) => !isByKeyPair(name));
    if (unmade.length === 0) return;
    throw invalid(
      "/signature/schemes",
      `No valid secret of this endpoint fits ${unmade.join(", ")}. Rotate the secret with this scheme first, ` +
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

function invalid(pointer: string, message: string): PosthornError {
  return new PosthornError("invalid_endpoint", message, { problems: [{ pointer, message }] });
}

/** A key that may change the URL but cannot read the secret must not be able to send the secret elsewhere. */
function tokenOfOtherHost(): PosthornError {
  return invalid(
    "/url",
    "The secret is part of each request and was given for another host. Create a new endpoint, or remove the scheme that sends it first.",
  );
}

/** A secret that was given for signing only must not be sent. */
function tokenNotGiven(scheme: string): PosthornError {
  return invalid(
    "/signature/schemes",
    `The signature scheme "${scheme}" sends its secret with each request. Rotate the secret of this scheme first, so that it has its own.`,
  );
}

/** A denied handshake is repeated after every change to the endpoint. */
function needsNewHandshake({ url, handshake, grant }: EndpointRow, settings: EndpointSettings): boolean {
  const isOther = settings.url !== url || !isDeepStrictEqual(settings.handshake, handshake);
  return isOther || grant === null || grant.state === "denied";
}

function newCallbackToken(): string {
  return randomBytes(24).toString("base64url");
}
