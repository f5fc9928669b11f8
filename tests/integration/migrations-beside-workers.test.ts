import { createHash } from "node:crypto";
import { createPosthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../packages/posthorn/src/storage/database.ts";
import { type Migration, migrations } from "../../packages/posthorn/src/storage/generated/migrations.ts";
import { migrate } from "../../packages/posthorn/src/storage/migrate.ts";
import { isQuick } from "../support/matrix.ts";
import { openWorkerWorld } from "../support/processes/worker-world.ts";
import { expectDelivered, startTestReceiver } from "../support/servers/test-receiver.ts";
import { createPublishers } from "./steady-publisher.ts";

test.skipIf(isQuick)(
  "workers and publishers keep working while a later version migrates the schema",
  async () => {
    const receiver = await startTestReceiver();
    onTestFinished(() => receiver.close());
    receiver.answerAfterMs = () => 2 + Math.random() * 10;
    const paths = ["/1", "/2"];
    const endpoints = paths.map((path) => ({ url: receiver.url + path, events: ["*"] }));
    const { database, pool, options, open, startWorker } = await openWorkerWorld(
      { onTestFinished },
      endpoints,
    );
    const hooks = await open("api");
    await startWorker().started;
    const publishers = createPublishers(hooks);
    publishers.start();
    await publishers.more(50);

    const later = new Database({ database, schema: "posthorn" });
    onTestFinished(() => later.close());
    await migrate(later, { migrations: [...migrations, widening] });
    await publishers.more(50);
    expect(await hooks.health()).toEqual({ ready: true });
    await publishers.stop();
    await expectDelivered(pool, receiver, paths, publishers.acknowledged.values());
    expect(publishers.errors).toEqual([]);
    expect(receiver.arrivals.some(({ sender }) => sender === "worker-0")).toBe(true);

    const tooOld = createPosthorn(options);
    onTestFinished(() => tooOld.stop());
    await expect(tooOld.start()).rejects.toMatchObject({ code: "schema_too_new" });
  },
);

/** A later version may add columns, tables and indexes, and replace functions, while older workers run. */
const widening = ((): Migration => {
  const sql = `
alter table posthorn.queue add column priority integer not null default 0;
alter table posthorn.events add column source text;
alter table posthorn.deliveries add column note text;
alter table posthorn.attempt_log add column region text default 'here';
alter table posthorn.endpoints add column labels jsonb not null default '{}';
alter table posthorn.lanes add column weight integer not null default 1;
alter table posthorn.workers add column version text;
create table posthorn.extras (id integer primary key);
create index queue_priority on posthorn.queue (priority) where claimed_by is null;
create or replace function posthorn.epoch_ms(at timestamptz) returns double precision
language sql immutable parallel safe
as $$ select 1000 * extract(epoch from at)::double precision $$;
`;
  const checksum = createHash("sha256").update(sql).digest("hex");
  return { version: migrations.length + 1, name: "widening", sql, checksum };
})();
