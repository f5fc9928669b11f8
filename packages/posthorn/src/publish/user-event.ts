// Events for a user: one for every active tenant the user is a member of, all or none.
import { allMessages, PosthornError, problemAt, throwProblems } from "../errors.ts";
import { type PublishInput, type ValidEvent, validate } from "../event/validate.ts";
import {
  type PublishedForUser,
  publishForUserStatement,
} from "../storage/queries/events/publish-in-transaction.ts";
import { inSchema } from "../storage/sql.ts";
import type { PublishResult } from "./pending-events.ts";
import { note, refusalOf, refuseNoTransaction, type Transaction } from "./publish-in-transaction.ts";

/** Like `PublishInput`, with a user (your own id, as in `members`) instead of a tenant. */
export type UserPublishInput = Omit<PublishInput, "tenant"> & { readonly user: string };

export interface UserPublishResult {
  readonly user: string;
  /** One for each active tenant of the user, ordered by tenant id. */
  readonly events: readonly (PublishResult & { readonly tenant: string })[];
}

/** They are written in one statement and one transaction; the SQL function has the same limit. */
export const MAX_TENANTS_OF_USER = 500;

export function isForUser(input: unknown): input is UserPublishInput {
  return typeof input === "object" && input !== null && (input as { user?: unknown }).user !== undefined;
}

/** The event for each tenant; the database fills in the tenant. */
export function validateForUser(input: UserPublishInput, nowMs: number, apiVersion?: string): ValidEvent {
  const { user, ...rest } = input;
  if ((input as { tenant?: unknown }).tenant !== undefined) {
    throw problemAt("invalid_event", "/user", "tenant and user are both given; give one of them.");
  }
  try {
    // user ids have the syntax of tenant ids
    return validate({ ...rest, tenant: user }, nowMs, apiVersion);
  } catch (error) {
    if (!(error instanceof PosthornError)) throw error;
    const problems = error.problems.map(({ pointer, message }) =>
      pointer === "/tenant"
        ? { pointer: "/user", message: message.replace(/^tenant/, "user") }
        : { pointer, message },
    );
    throwProblems(error.code, problems, allMessages);
    throw error;
  }
}

export async function publishForUser(
  tx: Transaction,
  schema: string,
  user: string,
  { event, idempotency }: ValidEvent,
): Promise<UserPublishResult> {
  refuseNoTransaction(tx);
  const values = [
    user,
    event.type,
    Buffer.from(event.payload).toString("utf8"),
    event.subject,
    event.apiVersion,
    idempotency?.key ?? null,
  ];
  try {
    const { rows } = await tx.query(inSchema(publishForUserStatement.text, schema), values);
    const events = (rows as PublishedForUser[]).map(({ tenant, id, sequence, duplicate }) => ({
      tenant,
      id,
      sequence: sequence === null ? null : Number(sequence),
      duplicate: duplicate === "true",
      deliveries: null,
    }));
    const fresh = events.filter(({ duplicate }) => !duplicate).map(({ id }) => id);
    await note(tx, schema, fresh, event);
    return { user, events };
  } catch (error) {
    throw (error as { hint?: string }).hint === "too_many_tenants" ? tooManyTenants(user) : refusalOf(error);
  }
}

function tooManyTenants(user: string): PosthornError {
  const message = `The user "${user}" is a member of more than ${MAX_TENANTS_OF_USER} active tenants. Publish for each tenant.`;
  return problemAt("invalid_event", "/user", message);
}
