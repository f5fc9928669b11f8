// Writes new and changed endpoints, one by one, in a transaction of the caller's that holds the tenant.
import { generateSecret, generateSigningKey, schemeNamed, uuidv7 } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import { type KeyRing, secretBinding } from "../storage/key-ring.ts";
import type { EndpointRow } from "../storage/queries/endpoints/endpoint-row.ts";
import { targetsByIds } from "../storage/queries/endpoints/targets.ts";
import { type EndpointSettings, insertEndpoint, updateEndpoint } from "../storage/queries/endpoints/write.ts";
import { forgetHealth } from "../storage/queries/health/record.ts";
import { letGoOfSubjects } from "../storage/queries/queue/let-go-of-subjects.ts";
import { insertSecret } from "../storage/queries/secrets/rotate.ts";
import { type EndpointDefaults, fitsAny, schemesOf } from "./endpoint-settings.ts";
import { toTarget } from "./targets.ts";

export interface NewEndpoint {
  readonly id: Uuid;
  readonly settings: EndpointSettings;
  readonly secret: string;
}

export interface EndpointWriter {
  /** Before the transaction: keys are made meanwhile, and nothing is locked. */
  prepare(settings: EndpointSettings, ownSecret: string | null): Promise<NewEndpoint>;
  insert(tx: Queryable, tenant: string, endpoint: NewEndpoint): Promise<EndpointRow>;
  /** The endpoint is locked. */
  update(tx: Queryable, current: EndpointRow, settings: EndpointSettings): Promise<EndpointRow>;
  addSecret(tx: Queryable, endpointId: Uuid, secret: string): Promise<void>;
  makeSecret(settings: Pick<EndpointSettings, "signature">): Promise<string>;
  /** Throws where new schemes find no secret of their kind among those that are valid: nothing is sent unsigned. */
  checkStillSigned(tx: Queryable, current: EndpointRow, next: EndpointSettings): Promise<void>;
}

export interface EndpointWriterOptions {
  readonly keyRing: KeyRing;
  readonly defaults: EndpointDefaults;
  /** The database's time. */
  readonly nowMs: () => number;
}

export function createEndpointWriter({ keyRing, defaults, nowMs }: EndpointWriterOptions): EndpointWriter {
  return { prepare, insert, update, addSecret, makeSecret, checkStillSigned };

  async function prepare(settings: EndpointSettings, ownSecret: string | null): Promise<NewEndpoint> {
    return { id: uuidv7(nowMs()), settings, secret: ownSecret ?? (await makeSecret(settings)) };
  }

  async function insert(tx: Queryable, tenant: string, { id, settings, secret }: NewEndpoint) {
    const inserted = await insertEndpoint(tx, id, tenant, settings);
    await addSecret(tx, id, secret);
    return inserted;
  }

  async function update(tx: Queryable, current: EndpointRow, settings: EndpointSettings) {
    const isAnew = settings.url !== current.url || (settings.isActive && !current.isActive);
    if (isAnew) await forgetHealth(tx, current.id);
    if (settings.ordering !== "fifo" || settings.fifoOnDead !== "hold") await letGoOfSubjects(tx, current.id);
    return await updateEndpoint(tx, current.id, settings);
  }

  async function addSecret(tx: Queryable, endpointId: Uuid, secret: string): Promise<void> {
    const id = uuidv7(nowMs());
    await insertSecret(tx, endpointId, { id, ...keyRing.encrypt(secret, secretBinding(endpointId, id)) });
  }

  /** `whsk_` where every scheme wants an ed25519 key, `whsec_` otherwise. */
  async function makeSecret(settings: Pick<EndpointSettings, "signature">): Promise<string> {
    const schemes = schemesOf(settings, defaults);
    const isAsymmetric = schemes.every((name) => schemeNamed(name).key === "ed25519");
    return isAsymmetric ? (await generateSigningKey()).signingKey : generateSecret();
  }

  async function checkStillSigned(
    tx: Queryable,
    current: EndpointRow,
    next: EndpointSettings,
  ): Promise<void> {
    const schemes = schemesOf(next, defaults);
    if (String(schemes) === String(schemesOf(current, defaults))) return;
    const [row] = await targetsByIds(tx, [current.id]);
    const secrets = row === undefined ? [] : toTarget(row, { defaults, keyRing, hub: null }).secrets;
    if (secrets.some(({ value }) => fitsAny(value, schemes))) return;
    const message =
      `No valid secret of this endpoint fits ${schemes.join(", ")}. Add the scheme beside those in use, rotate to a ` +
      "secret of its kind, and then take the others away.";
    const problems = [{ pointer: "/signature/schemes", message }];
    throw new PosthornError("invalid_endpoint", message, { problems });
  }
}
