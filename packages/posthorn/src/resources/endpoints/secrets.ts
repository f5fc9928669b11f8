// The signing secrets of an endpoint: the current one, and after a rotation the previous ones, which also sign until they
// expire, so that the receiver can switch without rejecting a delivery.
import { formatId, parseId, type SecretEncoding, schemeProblems } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import type { EndpointRow } from "../../storage/queries/endpoints/read.ts";
import { incrementEndpointVersion } from "../../storage/queries/endpoints/write.ts";
import {
  revokeSecret as deleteRetired,
  listSecrets,
  retireSecrets,
  type SecretRow,
} from "../../storage/queries/secrets.ts";
import { type Dated, dated, toDate } from "../page.ts";
import { integer, readFields, unchecked } from "../read-fields.ts";
import { type EndpointChanges, invalidEndpoint, knownEndpoint, refuseSubscription } from "./changes.ts";
import type { EndpointDefaults } from "./effective-settings.ts";
import { type GivenSecret, quoted, readEncoding, toStored } from "./secret-input.ts";
import { fitsAny, schemesOf } from "./settings.ts";
import type { EndpointWriter } from "./writer.ts";

export interface RotateOptions {
  /** How long the previous secrets stay valid. Default 7 days, at most 14; 0 revokes them at once. */
  readonly overlapSeconds?: number | undefined;
  /** Your own secret. Without it, one is generated. */
  readonly secret?: string | undefined;
  /** How your own secret is written: `text`, `base64` or `hex`, if it is not a `whsec_…` or `whsk_…`. */
  readonly secretEncoding?: SecretEncoding | undefined;
  /** Rotates the secret of this signature scheme only; it no longer signs with the shared secret then. */
  readonly scheme?: string | undefined;
}

/** A secret without its value, which is returned only when it is created. */
export interface EndpointSecret extends Dated<SecretRow> {
  /** False if it was replaced and expires. */
  readonly isCurrent: boolean;
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

interface EndpointSecretsOptions {
  readonly db: Database;
  readonly defaults: EndpointDefaults;
  readonly changes: EndpointChanges;
  readonly writer: EndpointWriter;
}

const DAY_SECONDS = 24 * 60 * 60;
const DEFAULT_OVERLAP_SECONDS = 7 * DAY_SECONDS;
const ROTATION = {
  overlapSeconds: integer(0, 14 * DAY_SECONDS),
  secret: unchecked<string>(),
  secretEncoding: readEncoding,
  scheme: unchecked<string>(),
};
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
    const asked = readFields("invalid_endpoint", "A rotation has no option", rotation, ROTATION);
    const { secret: given, secretEncoding, scheme } = asked;
    const overlapSeconds = asked.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS;
    const [problem] = scheme === null ? [] : schemeProblems([String(scheme)]);
    if (problem !== undefined) throw invalidEndpoint("/scheme", problem);
    if (secretEncoding !== null && given === null)
      throw invalidEndpoint("/secretEncoding", "There is no secret that has this encoding. Give secret.");
    return await changes.changeOne(tenant, id, async (tx, current) => {
      refuseSubscription(current);
      const schemes = scheme === null ? await sharing(tx, current) : [scheme];
      const secret =
        given === null ? await writer.makeSecret(schemes) : ownSecret(given, schemes, secretEncoding);
      if (scheme !== null) await writer.keepSharedFor(tx, current, scheme, overlapSeconds);
      const retired = await retireSecrets(tx, current.id, scheme, overlapSeconds);
      if (retired.count >= MAX_VALID_SECRETS)
        throw new PosthornError(
          "too_many_secrets",
          `${MAX_VALID_SECRETS} secrets of this endpoint are valid already. Wait until one has expired, or rotate with ` +
            "overlapSeconds 0 to revoke them all.",
        );
      await writer.addSecret(tx, current.id, secret.value, { usedFor: scheme });
      await incrementEndpointVersion(tx, current.id);
      return { secret: secret.text, previousExpiresAt: toDate(retired.lastExpiresMs) };
    });
  }

  /** Returns the schemes that sign with the shared secret. */
  async function sharing(tx: Queryable, current: EndpointRow): Promise<readonly string[]> {
    const valid = await listSecrets(tx, current.id);
    const schemes = schemesOf(current, defaults).filter((name) =>
      valid.every(({ scheme }) => scheme !== name),
    );
    if (schemes.length > 0) return schemes;
    throw invalidEndpoint(
      "/scheme",
      "Every signature scheme of this endpoint has its own secret. Give the scheme whose secret is to be rotated.",
    );
  }

  async function secrets(tenant: string, id: string): Promise<readonly EndpointSecret[]> {
    const endpoint = await knownEndpoint(db, tenant, id);
    return (await listSecrets(db, endpoint.id)).map(toSecret);
  }

  async function revokeSecret(tenant: string, id: string, secretId: string): Promise<void> {
    const secret = parseId("sec", String(secretId));
    await changes.changeOne(tenant, id, async (tx, current) => {
      refuseSubscription(current);
      const valid = await listSecrets(tx, current.id);
      const found = valid.find((row) => row.id === secret);
      if (found === undefined) throw secretNotFound(secret);
      if (found.expiresMs === null)
        throw new PosthornError(
          "secret_in_use",
          "This is the secret that the endpoint signs with. Rotate it with overlapSeconds 0 to end it at once.",
        );
      await deleteRetired(tx, current.id, found.id);
      await incrementEndpointVersion(tx, current.id);
    });
  }
}

function toSecret(row: SecretRow): EndpointSecret {
  return { ...dated(row), id: formatId("sec", row.id), isCurrent: row.expiresMs === null };
}

function ownSecret(text: string, schemes: readonly string[], encoding: SecretEncoding | null): GivenSecret {
  const stored = toStored(text, schemes, encoding);
  if ("problem" in stored) throw invalidEndpoint("/secret", stored.problem);
  if (fitsAny(stored.value, schemes)) return { text, value: stored.value };
  const message = `This kind of secret does not fit ${quoted(schemes)}. Give the scheme that it is for.`;
  throw invalidEndpoint("/secret", message);
}

/** The same message whether it never existed, belongs to another endpoint, or has expired. */
function secretNotFound(id: Uuid | null): PosthornError {
  const shown = id === null ? "with that id" : formatId("sec", id);
  return new PosthornError(
    "secret_not_found",
    `This endpoint has no valid secret ${shown}. List its secrets to see their ids.`,
  );
}
