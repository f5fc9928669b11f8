// Lists manual retries and replayed deliveries, newest first.
import { formatId } from "@posthorn/wire";
import type { Queryable } from "../../storage/database.ts";
import { listResent, type ResendRow } from "../../storage/queries/attempts.ts";
import { date, type Page, type PageQuery, readPage, toPage, UUID } from "../page.ts";
import { text } from "../read-fields.ts";

/** `attempt` is the number of the attempt. */
export interface ResendView extends Omit<ResendRow, "startedMs" | "startedUs"> {
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
  return {
    async list(query = {}) {
      const filters = { tenant: text(), type: text(), resentAfter: date };
      const { limit, cursor, resentAfter, ...asked } = readPage(
        "resends",
        query,
        filters,
        `\\d{1,18}:${UUID}`,
      );
      const [startedUs = "", deliveryId = ""] = cursor?.split(":") ?? [];
      const rows = await listResent(db, {
        ...asked,
        notBefore: resentAfter ?? new Date(0),
        before: cursor === null ? null : { startedUs, deliveryId },
        limit: limit + 1,
      });
      return toPage("resends", rows, limit, toView, (row) => `${row.startedUs}:${row.deliveryId}`);
    },
  };
}

function toView({ startedMs, startedUs: _, ...row }: ResendRow): ResendView {
  return {
    ...row,
    deliveryId: formatId("dlv", row.deliveryId),
    eventId: formatId("evt", row.eventId),
    endpointId: formatId("ep", row.endpointId),
    resentAt: new Date(startedMs),
  };
}
