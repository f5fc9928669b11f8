// The audit log: who changed what, and the outcome. `record-change.ts` writes an entry around every change; after its
// completion an entry never changes.
import { uuidTimeMs } from "@posthorn/wire";
import type { Database } from "../../storage/database.ts";
import {
  type AuditOutcome,
  type AuditRow,
  beginEntry,
  completeEntry,
  listAuditLog,
  type NewAuditEntry,
} from "../../storage/queries/audit-log.ts";
import { type Page, readTimedPage, type TimeRangeQuery, toPage } from "../page.ts";
import { text } from "../read-fields.ts";

export interface AuditEntry extends AuditRow {
  readonly at: Date;
}

export interface AuditQuery extends TimeRangeQuery {
  readonly tenant?: string | undefined;
  readonly action?: string | undefined;
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
    async list(query = {}) {
      const { limit, ...asked } = readTimedPage("audit", query, { tenant: text(), action: text() });
      const rows = await listAuditLog(db, { ...asked, limit: limit + 1 });
      return toPage("audit", rows, limit, toEntry, (row) => row.id);
    },
  };
}

function toEntry(row: AuditRow): AuditEntry {
  return { ...row, at: new Date(uuidTimeMs(row.id)) };
}
