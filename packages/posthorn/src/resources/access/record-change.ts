// Records a change in the audit log: an entry before it is made, completed with its result. If the entry cannot be written,
// the change is not made. Changes through the API and through the library are recorded here.
import { isObject } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { Logger } from "../../observe/log.ts";
import type { NewAuditEntry } from "../../storage/queries/audit-log.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import { isTenantId } from "../tenants/tenants.ts";
import type { AuditLog } from "./audit-log.ts";
import { redactKey, withoutData, withoutSecrets } from "./redact-changes.ts";

/** Everything about the caller that an entry stores. */
export type AuditActor = Pick<
  NewAuditEntry,
  "actorKind" | "actorId" | "actorUser" | "actorTenant" | "requestId" | "address"
>;

export interface Change {
  readonly actor: AuditActor;
  /** An API operation, such as `endpoints.update`. */
  readonly action: string;
  /** The tenant, if the caller or the change names it. */
  readonly tenant: unknown;
  /** Ids of what is changed, by the names that the API's paths have for them. */
  readonly target: Readonly<Record<string, string>>;
  /** What was requested, in the names of the API. */
  readonly changes: unknown;
}

export interface Failure {
  readonly status: number;
  readonly code: string;
}

/** `failureOf` returns what the caller is told about an error. */
export type RecordChange = <Result>(
  change: Change,
  make: () => Promise<Result>,
  failureOf?: (error: unknown) => Failure,
) => Promise<Result>;

export interface RecordChangeOptions {
  readonly auditLog: Pick<AuditLog, "begin" | "complete">;
  readonly deliveries: Pick<Deliveries, "get">;
  readonly replays: { get(id: string): Promise<{ readonly tenant: string | null }> };
  readonly logger: Logger;
}

export function createRecordChange({
  auditLog,
  deliveries,
  replays,
  logger,
}: RecordChangeOptions): RecordChange {
  return async (change, make, failureOf = failureOfLibrary) => {
    const { action, target } = change;
    // text that cannot be a tenant id may be too long to store
    const tenant = isTenantId(change.tenant) ? change.tenant : await tenantOf(target);
    const id = await auditLog.begin({ ...entryOf(change), tenant });
    const complete = (outcome: Parameters<typeof auditLog.complete>[1]): Promise<void> =>
      auditLog.complete(id, outcome).catch((error: unknown) => {
        const { message } = error as Error;
        logger.warn("could not complete an audit entry", { entry: id, action, error: message });
      });
    try {
      const result = await make();
      await complete({ status: 200, errorCode: null, ...factsOf(result, target) });
      return result;
    } catch (error) {
      const { status, code } = failureOf(error);
      await complete({ status, errorCode: code, tenant: null, created: null, affected: null });
      throw error;
    }
  };

  /** Returns the tenant of the delivery or replay that is changed; null if it does not exist. */
  async function tenantOf({ delivery, replay }: Change["target"]): Promise<string | null> {
    try {
      if (delivery !== undefined) return (await deliveries.get(delivery)).tenant;
      return replay === undefined ? null : (await replays.get(replay)).tenant;
    } catch (error) {
      if (error instanceof PosthornError && error.status === 404) return null;
      throw error;
    }
  }
}

function entryOf({ actor, action, target, changes }: Change): Omit<NewAuditEntry, "tenant"> {
  const shown = Object.entries(target).map(([name, value]) => [
    name,
    name === "key" ? redactKey(value) : String(withoutSecrets(value)),
  ]);
  return {
    ...actor,
    action,
    target: Object.fromEntries(shown),
    changes: withoutSecrets(withoutData(changes)),
  };
}

function failureOfLibrary(error: unknown): Failure {
  if (error instanceof PosthornError) return error;
  return { status: 500, code: "internal_error" };
}

/** Returns the id of what was created, unless the target names it already, its tenant, and how many a filter changed. */
function factsOf(result: unknown, target: Change["target"]) {
  const { endpoint, key, ...own } = (result ?? {}) as { readonly endpoint?: unknown; readonly key?: unknown };
  // the library returns some new objects beside their secret
  const made = [endpoint, key].find(isObject);
  const { id, eventId, tenant, deleted, released, discarded } = { ...own, ...made } as Readonly<
    Record<string, unknown>
  >;
  const createdId = id ?? eventId;
  const affected = deleted ?? released ?? discarded;
  return {
    affected: typeof affected === "number" ? affected : null,
    created: typeof createdId === "string" && !Object.values(target).includes(createdId) ? createdId : null,
    tenant: typeof tenant === "string" ? tenant : null,
  };
}
