// The audit log, for those who may read it.
import { operationsOf, type PosthornContract } from "@posthorn/client";
import { didYouMean } from "@posthorn/wire";
import { type Posthorn, PosthornError } from "posthorn";
import { type Handlers, LargeResponse } from "../../implement.ts";
import { toFilters } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import { scopedTenant } from "../../principal.ts";
import { presentAuditEntry } from "./present.ts";

type Query = NonNullable<Parameters<Posthorn["auditLog"]["list"]>[0]>;

export function auditLogOperations({ auditLog }: Posthorn): Handlers<PosthornContract>["auditLog"] {
  return {
    list: new LargeResponse(async ({ query, principal }) => {
      if (query.action !== undefined) checkAction(query.action);
      const filters = toFilters<Query>(query);
      const tenant = scopedTenant(principal, query.tenant);
      const page = await auditLog.list({ ...filters, tenant });
      return presentPage(page, (entry) => presentAuditEntry(entry, principal));
    }),
  };
}

/** One that is misspelt would have no entries, which reads as if nobody had done it. */
function checkAction(action: string): void {
  if (LOGGED.includes(action)) return;
  const message = `${JSON.stringify(action)} is no operation that is logged. ${didYouMean(action, LOGGED)}`;
  throw new PosthornError("invalid_query", message, { problems: [{ pointer: "/action", message }] });
}

/** As `implement` decides: what changes something, and what takes a privilege. What is published is its own record. */
const LOGGED: readonly string[] = operationsOf()
  .filter(([id, { method, isQuestion, privilege }]) => {
    const isChange = method !== "GET" && isQuestion !== true;
    return (isChange && id !== "events.publish") || privilege !== undefined;
  })
  .map(([id]) => id);
