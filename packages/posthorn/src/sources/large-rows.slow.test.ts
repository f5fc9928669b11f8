// Rows much larger than an event may be, read by a process with little memory.
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { openOwnPostgres } from "../../../../tests/support/database/own-postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { openWorkerWorld } from "../../../../tests/support/processes/worker-world.ts";
import type { SourceOptions } from "./options.ts";

/** Together several times as large as the heap. */
const ROWS = 40;

test.each(["polling", "replication"] as const)(
  "by %s, 40 rows of 6 MB are rejected with 64 MB of heap, and the rows between them are published",
  async (kind) => {
    const server = await openOwnPostgres({ wal_level: "logical", max_slot_wal_keep_size: "2GB" });
    onTestFinished(() => server.close());
    await server.query(`
      create table outbox (
        id bigint generated always as identity primary key,
        body jsonb not null,
        other text,
        status text not null,
        kind text not null,
        updated_at timestamptz not null default now()
      );
      create publication posthorn_shop for table outbox with (publish = 'insert');
      -- compressed once
      create table large as select to_jsonb(repeat('x', 6000000)) as body, repeat('y', 6000000) as other`);
    await server.query("select pg_create_logical_replication_slot('posthorn_shop', 'pgoutput')");
    await server.query(`
      insert into outbox (body, other, status, kind)
      select kinds.body, kinds.other, kinds.status, kinds.kind
      from generate_series(1, ${ROWS}) n
      cross join large
      cross join lateral (values
        (1, large.body, null, 'ready', 'row.large'),
        (2, '1', null, 'ready', 'row.small'),
        (3, to_jsonb(repeat('x', 262142)), null, 'ready', 'row.at_the_limit'),
        (4, '1', large.other, 'ready', 'row.with_another_column'),
        (5, large.body, null, 'draft', 'row.excluded')
      ) kinds (place, body, other, status, kind)
      where kinds.place <= 2 or n % 50 = 0
      order by n, kinds.place`);
    const isPolling = kind === "polling";
    const source: SourceOptions = {
      name: "shop",
      kind,
      database: server.connectionString,
      table: "outbox",
      columns: { id: "id", data: "body", type: "kind", ...(isPolling && { updatedAt: "updated_at" }) },
      values: { tenant: "acme" },
      filter: { status: "ready" },
      ...(isPolling && { intervalMs: 100, delayMs: 0 }),
    };
    const { pool, ...world } = await openWorkerWorld({ onTestFinished } as TestContext, [], {
      sources: [source],
    });
    await world.startWorker(["--max-old-space-size=64"]).started;
    const events = async () => {
      const { rows } = await pool.query<{ id: string; event: string }>(
        `select split_part(k.key, '/', 2) as id, e.type || case when r.event_id is null then '' else ' rejected' end as event
         from posthorn.events e
         join posthorn.idempotency_keys k on k.event_id = e.id
         left join posthorn.rejected_events r on r.event_id = e.id
         order by e.id`,
      );
      return rows;
    };
    const expected = await server.query<{ id: string; event: string }>(
      `select id::text, kind || case kind when 'row.large' then ' rejected' else '' end as event
       from outbox where status = 'ready' order by outbox.id`,
    );
    await eventually("all are stored", async () => (await events()).length >= expected.length);
    expect(await events()).toEqual(expected);
  },
);
