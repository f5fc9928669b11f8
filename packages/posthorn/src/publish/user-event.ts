// Events for a user: one for every active tenant the user is a member of, all or none.
import { allMessages, PosthornError, problemAt, throwProblems } from "../errors.ts";
import { type PublishInput, type ValidEvent, validate } from "../event/validate.ts";
import {
  type PublishedForUser,
  publishForUserStatement,
} from "../storage/queries/events/publish-in-transaction.ts";
import type { PublishResult } from "./pending-events.ts";
import { extrasOf, resultOf, sendInTransaction } from "./publish-in-transaction.ts";
import type { Transaction } from "./transaction-libraries.ts";

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
  const rows = await sendInTransaction(tx, schema, publishForUserStatement, [
    user,
    event.type,
    Buffer.from(event.payload).toString("utf8"),
    event.subject,
    event.apiVersion,
    idempotency?.key ?? null,
    ...extrasOf(event),
  ]);
  const events = (rows as PublishedForUser[]).flatMap(({ tenant, ...row }) =>
    tenant === null ? [] : [{ tenant, ...resultOf(row) }],
  );
  return { user, events };
}
