// How large the queue is, and new statistics for it.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function queuePages(db: Queryable): Promise<number> {
  const [row] = await db.query<{ pages: number }>(queuePagesStatement);
  return row?.pages ?? 0;
}

const queuePagesStatement = statement(
  "queue pages",
  "select (pg_relation_size('posthorn.queue'::regclass) / 8192)::integer as pages",
);

export async function analyzeQueue(db: Queryable): Promise<void> {
  await db.query(analyzeQueueStatement);
}

const analyzeQueueStatement = statement("analyze queue", "analyze posthorn.queue");
