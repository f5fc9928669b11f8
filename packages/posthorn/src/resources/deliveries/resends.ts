// Lists manual retries and replayed deliveries, newest first.
import { formatId } from "@posthorn/wire";
import type { AttemptTrigger } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { listResent, type ResendFilter, type ResendRow } from "../../storage/queries/attempts/list-resent.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "../page.ts";

export interface ResendView {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly tenant: string;
  readonly eventType: string;
  /** The number of the attempt. */
  readonly attempt: number;
  readonly trigger: AttemptTrigger;
  readonly resentAt: Date;
}

export interface ResendQuery extends PageQuery {
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  /** Inclusive. */
  readonly resentAfter?: Date | undefined;
}

export interface Resends {
  /** Newest first. An attempt is listed once it has ended. */
  list(query?: ResendQuery): Promise<Page<ResendView>>;
}

export function createResends(db: Queryable): Resends {
  return { list };

  async function list(query: ResendQuery = {}): Promise<Page<ResendView>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const before = beforeOf(reader, query);
    const tenant = reader.text("tenant", query.tenant);
    const type = reader.text("type", query.type);
    const notBefore = query.resentAfter ?? new Date(0);
    if (!(notBefore instanceof Date) || Number.isNaN(notBefore.getTime())) {
      reader.refuse("resentAfter", "resentAfter is a valid date.");
    }
    reader.finish(["tenant", "type", "resentAfter", "limit", "cursor"], query);
    const rows = await listResent(db, { notBefore, before, limit: limit + 1, tenant, type });
    return toPage(
      "resends",
      rows,
      limit,
      toView,
      ({ startedUs, deliveryId }) => `${startedUs}:${deliveryId}`,
    );
  }
}

function beforeOf(reader: QueryReader, query: PageQuery): ResendFilter["before"] {
  const cursor = reader.cursor("resends", query);
  if (cursor === null) return null;
  const [, startedUs, deliveryId] =
    /^(\d{1,18}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? [];
  if (startedUs !== undefined && deliveryId !== undefined) return { startedUs, deliveryId };
  reader.refuse(
    "cursor",
    "This is not a cursor of this list. Pass nextCursor of the previous page, or leave it out.",
  );
  return null;
}

function toView(row: ResendRow): ResendView {
  return {
    deliveryId: formatId("dlv", row.deliveryId),
    eventId: formatId("evt", row.eventId),
    endpointId: formatId("ep", row.endpointId),
    tenant: row.tenant,
    eventType: row.eventType,
    attempt: row.attempt,
    trigger: row.trigger,
    resentAt: new Date(row.startedMs),
  };
}
