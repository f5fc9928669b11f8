import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { type Handlers, LargeAnswer } from "../implement.ts";
import { inLibraryFilters } from "../input/library-names.ts";
import { presentAuditEntry } from "../present/audit-entry.ts";
import { presentPage } from "../present/page.ts";
import { tenantWithin } from "../principal.ts";

type Query = NonNullable<Parameters<Posthorn["auditLog"]["list"]>[0]>;

export function auditLogOperations({ auditLog }: Posthorn): Handlers<PosthornContract>["auditLog"] {
  return {
    list: new LargeAnswer(async ({ query, principal }) => {
      const filters = inLibraryFilters<Query>(query);
      const tenant = tenantWithin(principal, query.tenant);
      const page = await auditLog.list({ ...filters, tenant });
      return presentPage(page, (entry) => presentAuditEntry(entry, principal));
    }),
  };
}
