// One suite, every backend: the embedded server, the system's own, and one behind pgbouncer in transaction mode.
import { randomBytes } from "node:crypto";
import { verify } from "@posthorn/wire";
import type pg from "pg";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import { type ScriptedReceiver, startScriptedReceiver } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Instance } from "../../packages/posthorn/src/posthorn.ts";
import { Database } from "../../packages/posthorn/src/storage/database.ts";
import { queryOnce } from "../support/database/own-postgres.ts";
import { createDatabase, createPool } from "../support/database/postgres.ts";
import { eventually, eventuallyPasses } from "../support/eventually.ts";
import { isQuick } from "../support/matrix.ts";
import {
  findProgram,
  findSystemPostgres,
  startPgbouncer,
  startSystemPostgres,
} from "../support/processes/system-programs.ts";
import { startWorker } from "../support/processes/worker-world.ts";

describe("on the embedded PostgreSQL", () => {
  testConformance(openEmbedded);
});

const programs = isQuick ? null : findSystemPostgres();
describe.skipIf(programs === null)("on the system's PostgreSQL (skipped if there is none)", () => {
  testConformance(() => startSystemPostgres(programs as string));
});

const pgbouncer = findProgram("pgbouncer");
describe.skipIf(pgbouncer === null)("behind pgbouncer in transaction mode (skipped if there is none)", () => {
  testConformance(() => openPooled(pgbouncer as string), { isDirect: false });
});

describe.skipIf(isQuick)(
  "in a schema named My-hooks, with a process in Newfoundland's time zone and a database in Nepal's",
  () => {
    const timeZone = process.env.TZ;
    beforeAll(() => {
      process.env.TZ = "America/St_Johns";
    });
    afterAll(() => {
      if (timeZone === undefined) delete process.env.TZ;
      else process.env.TZ = timeZone;
    });

    test("this process and the database have different time zones", () => {
      expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe(210);
    });

    testConformance(async () => {
      const embedded = await openEmbedded();
      const { connectionString } = embedded;
      const [row] = await queryOnce<{ name: string }>(connectionString, "select current_database() as name");
      await queryOnce(connectionString, `alter database ${row?.name} set timezone = 'Asia/Kathmandu'`);
      expect(await queryOnce(connectionString, "show timezone")).toEqual([{ TimeZone: "Asia/Kathmandu" }]);
      return { ...embedded, schema: "My-hooks" };
    });
  },
);

async function openPooled(program: string): Promise<Place> {
  const embedded = await openEmbedded();
  const { connectionString, close } = await startPgbouncer(program, embedded.connectionString);
  return {
    connectionString,
    async close() {
      await close();
      await embedded.close();
    },
  };
}

async function openEmbedded(): Promise<Place> {
  const database = await createDatabase();
  return { connectionString: database.connectionString, close: database.drop };
}

interface Place {
  readonly connectionString: string;
  readonly schema?: string;
  close(): Promise<void>;
}

/** `isDirect` is false behind a pooler: then there is no dedicated session. */
function testConformance(openPlace: () => Promise<Place>, { isDirect = true } = {}): void {
  let place: Place;
  let pool: pg.Pool;
  let receiver: ScriptedReceiver;
  let hooks: Posthorn;
  let options: PosthornOptions & { schema: string };

  beforeAll(async () => {
    place = await openPlace();
    pool = createPool(place.connectionString);
    receiver = await startScriptedReceiver();
    options = {
      database: place.connectionString,
      schema: place.schema ?? "posthorn",
      encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
      allowHttp: true,
      allowCidrs: ["127.0.0.0/8"],
      retryPolicy: "50ms,50ms",
      maxEndpointsPerTenant: 100,
      leaseMs: 1_500,
    };
    hooks = createPosthorn(options);
    await hooks.migrate();
    await hooks.start();
  });
  afterAll(async () => {
    await hooks?.stop();
    await receiver?.close();
    await pool?.end();
    await place?.close();
  });

  let places = 0;
  /** A tenant for one test, with one endpoint. */
  async function newEndpoint() {
    places += 1;
    const [tenant, path] = [`tenant-${places}`, `/hook-${places}`];
    await hooks.tenants.upsert(tenant, {});
    const created = await hooks.endpoints.create(tenant, { url: receiver.url + path, events: ["*"] });
    return { tenant, path, id: created.endpoint.id, secret: created.secret };
  }

  const inSchema = (sql: string) => sql.replaceAll("posthorn.", `"${options.schema}".`);

  async function isLedBySomebody(): Promise<boolean> {
    const { rows } = await pool.query(
      inSchema(`select from posthorn.leadership l join posthorn.workers w on w.id = l.worker_id
        where l.expires_at > posthorn.now()`),
    );
    return rows.length === 1;
  }

  async function deliveryOf(eventId: string) {
    const { deliveries } = await hooks.events.get(eventId);
    return await hooks.deliveries.get(deliveries[0]?.id as string);
  }

  async function becomes(eventId: string, state: string): Promise<void> {
    await eventually(`the delivery is ${state}`, async () => (await deliveryOf(eventId)).state === state);
  }

  test("a connection is recognised as direct or pooled", async () => {
    const db = new Database({ database: place.connectionString, schema: options.schema });
    onTestFinished(() => db.close());
    const connection = await db.connect();
    expect(connection.isDirect).toBe(isDirect);
    await connection.close();
  });

  test("migrating again changes nothing", async () => {
    expect(await hooks.migrate()).toMatchObject({ applied: [], pending: [] });
    expect(await hooks.migrationStatus()).toMatchObject({ pending: [] });
    expect(await hooks.health()).toEqual({ ready: true });
  });

  test("a published event is delivered byte for byte, signed with the current time", async () => {
    const { tenant, path, secret } = await newEndpoint();
    const before = Date.now() - 1_000;
    const rawData = Buffer.from('{"z":1.0,"a":12345678901234567890,"text":"\\u0000 ü"}');
    const { id } = await hooks.publish({ tenant, type: "order.paid", rawData });
    const [request] = await receiver.received(1, { path });
    expect(String(request?.body)).toContain(`"data":${String(rawData)}`);
    const headers = request?.headers as Record<string, string>;
    const body = request?.body as Buffer;
    expect(await verify({ scheme: "t-v1", headers, body, secrets: [secret] })).toEqual({ ok: true });
    await becomes(id, "success");
    const { createdAt, deliveredAt, attempts } = await deliveryOf(id);
    for (const time of [createdAt, deliveredAt, attempts[0]?.startedAt]) {
      expect(time?.getTime()).toBeGreaterThan(before);
      expect(time?.getTime()).toBeLessThan(Date.now() + 1_000);
    }
  });

  test("an event in the caller's transaction exists if and only if it commits", async () => {
    const { tenant, path } = await newEndpoint();
    const client = await pool.connect();
    const ids: string[] = [];
    for (const end of ["rollback", "commit"]) {
      await client.query("begin");
      ids.push((await hooks.publish({ tenant, type: "order.paid", data: end }, { tx: client })).id);
      await client.query(end);
    }
    client.release();
    const [request] = await receiver.received(1, { path });
    expect(JSON.parse(String(request?.body))).toMatchObject({ id: ids[1], data: "commit" });
    await becomes(ids[1] as string, "success");
    await expect(hooks.events.get(ids[0] as string)).rejects.toMatchObject({ code: "event_not_found" });
    expect(receiver.requestsTo(path)).toHaveLength(1);
  });

  test("the SQL function publishes from any client", async () => {
    const { tenant, path } = await newEndpoint();
    const { rows } = await pool.query(
      inSchema("select posthorn.publish(tenant => $1, type => 'order.paid', data => $2::text) as id"),
      [tenant, '{"b":1,"a":2}'],
    );
    const [request] = await receiver.received(1, { path });
    expect(String(request?.body)).toContain('"data":{"b":1,"a":2}');
    await becomes(rows[0].id, "success");
  });

  test("an idempotency key creates one event, also with concurrent publishers and different ways of publishing", async () => {
    const { tenant, path } = await newEndpoint();
    const input = { tenant, type: "order.paid", data: { id: 1 }, idempotencyKey: "order-1" };
    const results = await Promise.all(Array.from({ length: 20 }, () => hooks.publish(input)));
    const [id] = new Set(results.map((result) => result.id));
    expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(new Set(results.map((result) => result.id)).size).toBe(1);
    const { rows } = await pool.query(
      inSchema(
        "select posthorn.publish(tenant => $1, type => 'order.paid', data => $2::text, idempotency_key => 'order-1') as id",
      ),
      [tenant, '{"id":1}'],
    );
    expect(rows[0].id).toBe(id);
    await expect(hooks.publish({ ...input, data: { id: 2 } })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
    await becomes(id as string, "success");
    expect(receiver.requestsTo(path)).toHaveLength(1);
  });

  test("a failing delivery is retried by the schedule, then dead, then delivered by a manual retry", async () => {
    const { tenant, path } = await newEndpoint();
    receiver.answer(path, [{ status: 500 }, { status: 503 }, { status: 500 }, { status: 200 }]);
    const { id } = await hooks.publish({ tenant, type: "order.paid", data: 1 });
    await becomes(id, "dead");
    const { id: deliveryId, deadReason } = await deliveryOf(id);
    expect(deadReason).toBe("attempts_exhausted");
    await hooks.deliveries.retry(deliveryId);
    await becomes(id, "success");
    const { attempts } = await deliveryOf(id);
    expect(attempts.map(({ number, statusCode, trigger }) => [number, statusCode, trigger])).toEqual([
      [1, 500, "event"],
      [2, 503, "retry"],
      [3, 500, "retry"],
      [4, 200, "manual"],
    ]);
  });

  test("an old day is dropped, and a dead letter of it stays and can be retried", async () => {
    const { tenant, path } = await newEndpoint();
    receiver.answer(path, [{ status: 200 }, { status: 400 }, { status: 200 }]);
    const daysAgo = "posthorn.now() - interval '200 days'";
    await pool.query(
      inSchema(`select posthorn.ensure_partitions(old.day, old.day)
        from (select ((${daysAgo}) at time zone 'UTC')::date as day) old`),
    );
    const ids: string[] = [];
    for (const state of ["success", "dead"]) {
      const { rows } = await pool.query(
        inSchema(`select posthorn.publish(tenant => $1, type => 'order.paid', data => $2::text,
          id => 'evt_' || posthorn.uuidv7(${daysAgo})) as id`),
        [tenant, JSON.stringify(state)],
      );
      ids.push(rows[0].id);
      await becomes(rows[0].id, state);
    }
    const [gone, kept] = ids as [string, string];
    // it gives up on a table that is in use, until the next time
    await eventuallyPasses(async () => {
      await (hooks as Instance).engine?.maintenance.runNow();
      await expect(hooks.events.get(gone)).rejects.toMatchObject({ code: "event_not_found" });
    });
    const dead = await deliveryOf(kept);
    expect([dead.state, dead.attempts.length]).toEqual(["dead", 1]);
    await hooks.deliveries.retry(dead.id);
    await becomes(kept, "success");
    expect(String(receiver.requestsTo(path).at(-1)?.body)).toContain('"data":"dead"');
  });

  test("a killed worker's attempts are recorded as unknown, and another worker delivers", async () => {
    const { tenant, path } = await newEndpoint();
    receiver.answer(path, ["hang", { status: 200 }]);
    const worker = startWorker({ ...options, userAgent: "doomed" });
    onTestFinished(() => worker.kill());
    await worker.started;
    // the worker is the only one that delivers until it has begun
    const api = createPosthorn(options);
    onTestFinished(() => api.stop());
    await api.start({ role: "api" });
    await hooks.stop();
    const { id } = await api.publish({ tenant, type: "order.paid", data: 1 });
    await receiver.received(1, { path });
    hooks = createPosthorn(options);
    await hooks.start();

    await worker.kill();
    await receiver.received(2, { path, timeoutMs: 20_000 });
    await becomes(id, "success");
    const { attempts } = await deliveryOf(id);
    expect(attempts.map(({ number, error, statusCode }) => [number, error, statusCode])).toEqual([
      [1, "unknown", null],
      [2, null, 200],
    ]);
    // a leader that was killed or stopped is replaced
    await eventually("maintenance has a leader", () => isLedBySomebody());
  });

  test.skipIf(isDirect)("a shared session is left without locks and prepared statements", async () => {
    const { rows } = await pool.query(`select
      (select count(*)::integer from pg_prepared_statements) as statements,
      (select count(*)::integer from pg_locks l join pg_database d on d.oid = l.database
       where l.locktype = 'advisory' and d.datname = current_database()) as locks`);
    expect(rows).toEqual([{ statements: 0, locks: 0 }]);
  });

  test("nothing is queued at the end", async () => {
    const { rows } = await pool.query(
      inSchema("select count(*)::integer as unfinished from posthorn.unfinished"),
    );
    expect(rows[0].unfinished).toBe(0);
  });
}
