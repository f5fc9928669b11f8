// The signing secrets of an endpoint: the current one, and after a rotation the previous ones, which also sign until they
// expire, so that the receiver can switch without rejecting a delivery.
import { formatId, parseId, schemeProblems } from "@posthorn/wire";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import type { EndpointRow } from "../../storage/queries/endpoints/endpoint-row.ts";
import { findEndpoint } from "../../storage/queries/endpoints/read.ts";
import { incrementEndpointVersion } from "../../storage/queries/endpoints/write.ts";
import { listSecrets, type SecretRow } from "../../storage/queries/secrets/list.ts";
import { revokeSecret as deleteRetired, retireSecrets } from "../../storage/queries/secrets/rotate.ts";
import { isTenantId } from "../tenants/tenants.ts";
import { type EndpointChanges, endpointNotFound, refuseSubscription } from "./changes.ts";
import type { EndpointDefaults } from "./effective-settings.ts";
import { secretProblem } from "./setting-readers.ts";
import { fitsAny, schemesOf } from "./settings.ts";
import type { EndpointWriter } from "./writer.ts";

export interface RotateOptions {
  /** How long the previous secrets stay valid. Default 7 days, at most 14; 0 revokes them at once. */
  readonly overlapSeconds?: number | undefined;
  /** Your own secret. Without it, one is generated. */
  readonly secret?: string | undefined;
  /** Rotates the secret of this signature scheme only; it no longer signs with the shared secret then. */
  readonly scheme?: string | undefined;
}

/** A secret without its value, which is returned only when it is created. */
export interface EndpointSecret {
  readonly id: string;
  /** False if it was replaced and expires. */
  readonly isCurrent: boolean;
  /** The signature scheme that signs with it. Null: all schemes without a secret of their own. */
  readonly scheme: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

export interface EndpointSecrets {
  rotateSecret(
    tenant: string,
    id: string,
    options?: RotateOptions,
  ): Promise<{ readonly secret: string; readonly previousExpiresAt: Date | null }>;
  /** Returns the valid secrets, newest first. */
  secrets(tenant: string, id: string): Promise<readonly EndpointSecret[]>;
  /** Revokes a previous secret before it expires. The current one can only be rotated. */
  revokeSecret(tenant: string, id: string, secretId: string): Promise<void>;
}

export interface EndpointSecretsOptions {
  readonly db: Database;
  readonly defaults: EndpointDefaults;
  readonly changes: EndpointChanges;
  readonly writer: EndpointWriter;
}

const DAY_SECONDS = 24 * 60 * 60;
const DEFAULT_OVERLAP_SECONDS = 7 * DAY_SECONDS;
const MAX_OVERLAP_SECONDS = 14 * DAY_SECONDS;
/** Limited because every request carries a signature for each of them. */
const MAX_VALID_SECRETS = 5;

export function createEndpointSecrets({
  db,
  defaults,
  changes,
  writer,
}: EndpointSecretsOptions): EndpointSecrets {
  return { rotateSecret, secrets, revokeSecret };

  async function rotateSecret(tenant: string, id: string, rotation: RotateOptions = {}) {
    const known = ["overlapSeconds", "secret", "scheme"];
    refuseUnknown("A rotation has no option", rotation, known, "invalid_endpoint");
    const { overlapSeconds = DEFAULT_OVERLAP_SECONDS, secret: ownSecret, scheme = null } = rotation;
    checkOverlap(overlapSeconds);
    if (scheme !== null) checkScheme(scheme);
    return await changes.changeOne(tenant, id, async (tx, current) => {
      refuseSubscription(current);
      const schemes = scheme === null ? await sharing(tx, current) : [scheme];
      const secret = ownSecret ?? (await writer.makeSecret(schemes));
      checkSecret(secret, schemes);
      if (scheme !== null) await writer.keepSharedFor(tx, current, scheme, overlapSeconds);
      const retired = await retireSecrets(tx, current.id, scheme, overlapSeconds);
      if (retired.count >= MAX_VALID_SECRETS) throw tooManySecrets();
      await writer.addSecret(tx, current.id, secret, { usedFor: scheme });
      await incrementEndpointVersion(tx, current.id);
      const { lastExpiresMs } = retired;
      return { secret, previousExpiresAt: lastExpiresMs === null ? null : new Date(lastExpiresMs) };
    });
  }

  /** Returns the schemes that sign with the shared secret. */
  async function sharing(tx: Queryable, current: EndpointRow): Promise<readonly string[]> {
    const valid = await listSecrets(tx, current.id);
    const schemes = schemesOf(current, defaults).filter((name) =>
      valid.every(({ scheme }) => scheme !== name),
    );
    if (schemes.length > 0) return schemes;
    throw invalidRotation(
      "/scheme",
      "Every signature scheme of this endpoint has its own secret. Give the scheme whose secret is to be rotated.",
    );
  }

  async function secrets(tenant: string, id: string): Promise<readonly EndpointSecret[]> {
    const uuid = parseId("ep", String(id));
    const isThere = uuid !== null && isTenantId(tenant) && (await findEndpoint(db, tenant, uuid)) !== null;
    if (!isThere) throw endpointNotFound(id);
    return (await listSecrets(db, uuid)).map(toSecret);
  }

  async function revokeSecret(tenant: string, id: string, secretId: string): Promise<void> {
    const secret: Uuid | null = parseId("sec", String(secretId));
    await changes.changeOne(tenant, id, async (tx, current) => {
      refuseSubscription(current);
      const valid = await listSecrets(tx, current.id);
      const found = valid.find((row) => row.id === secret);
      if (found === undefined) throw secretNotFound(secret);
      if (found.expiresMs === null) throw secretInUse();
      await deleteRetired(tx, current.id, found.id);
      await incrementEndpointVersion(tx, current.id);
    });
  }
}

function toSecret({ id, createdMs, expiresMs, scheme }: SecretRow): EndpointSecret {
  return {
    id: formatId("sec", id),
    isCurrent: expiresMs === null,
    scheme,
    createdAt: new Date(createdMs),
    expiresAt: expiresMs === null ? null : new Date(expiresMs),
  };
}

function checkOverlap(overlapSeconds: unknown): void {
  const isInRange =
    typeof overlapSeconds === "number" && overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP_SECONDS;
  if (!isInRange || !Number.isInteger(overlapSeconds)) {
    throw invalidRotation(
      "/overlapSeconds",
      `overlapSeconds is a whole number from 0 (revoke at once) to ${MAX_OVERLAP_SECONDS} (14 days).`,
    );
  }
}

function checkScheme(scheme: unknown): void {
  const [problem] = schemeProblems([String(scheme)]);
  if (problem !== undefined) throw invalidRotation("/scheme", problem);
}

function checkSecret(secret: string, schemes: readonly string[]): void {
  const problem = secretProblem(secret, schemes);
  if (problem !== null) throw invalidRotation("/secret", problem);
  if (fitsAny(secret, schemes)) return;
  const message = `This kind of secret does not fit ${schemes.join(", ")}. Give the scheme that it is for.`;
  throw invalidRotation("/secret", message);
}

function invalidRotation(pointer: string, message: string): PosthornError {
  return new PosthornError("invalid_endpoint", message, { problems: [{ pointer, message }] });
}

function tooManySecrets(): PosthornError {
  return new PosthornError(
    "too_many_secrets",
    `${MAX_VALID_SECRETS} secrets of this endpoint are valid already. Wait until one has expired, or rotate with ` +
      "overlapSeconds 0 to revoke them all.",
  );
}

/** The same message whether it never existed, belongs to another endpoint, or has expired. */
function secretNotFound(id: Uuid | null): PosthornError {
  const shown = id === null ? "with that id" : formatId("sec", id);
  return new PosthornError(
    "secret_not_found",
    `This endpoint has no valid secret ${shown}. List its secrets to see their ids.`,
  );
}

function secretInUse(): PosthornError {
  return new PosthornError(
    "secret_in_use",
    "This is the secret that the endpoint signs with. Rotate it with overlapSeconds 0 to end it at once.",
  );
}
