// The audit log: who changed what, and the outcome. The server writes an entry around every operation that changes
// something; after its completion an entry never changes.
import { uuidTimeMs } from "@posthorn/wire";
import type { Database } from "../../storage/database.ts";
import type { AuditRow } from "../../storage/queries/audit-log/audit-row.ts";
import { listAuditLog } from "../../storage/queries/audit-log/list.ts";
import {
  type AuditOutcome,
  beginEntry,
  completeEntry,
  type NewAuditEntry,
} from "../../storage/queries/audit-log/write.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../page.ts";

export interface AuditEntry extends AuditRow {
  readonly at: Date;
}

export interface AuditQuery extends PageQuery {
  readonly tenant?: string | undefined;
  readonly action?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export interface AuditLog {
  /** Called before the change. Returns the id of the entry. */
  begin(entry: NewAuditEntry): Promise<string>;
  complete(id: string, outcome: AuditOutcome): Promise<void>;
  /** Newest first. */
  list(query?: AuditQuery): Promise<Page<AuditEntry>>;
}

export function createAuditLog({ db }: { readonly db: Database }): AuditLog {
  return {
    begin: (entry) => beginEntry(db, entry),
    complete: (id, outcome) => completeEntry(db, id, outcome),
    list,
  };

  async function list(query: AuditQuery = {}): Promise<Page<AuditEntry>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const range = reader.idRange("audit", query);
    const tenant = reader.text("tenant", query.tenant);
    const action = reader.text("action", query.action);
    reader.finish(["limit", "cursor", "tenant", "action", "createdAfter", "createdBefore"], query);
    const rows = await listAuditLog(db, { ...range, tenant, action, limit: limit + 1 });
    return toPage("audit", rows, limit, toEntry, (row) => row.id);
  }
}

function toEntry(row: AuditRow): AuditEntry {
  return { ...row, at: new Date(uuidTimeMs(row.id)) };
}
