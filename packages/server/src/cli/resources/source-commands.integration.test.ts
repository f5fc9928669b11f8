// Sources over HTTP and on the command line.
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, createPool } from "../../../../../tests/support/database/postgres.ts";
import { useCommandServer } from "../../../../../tests/support/servers/run-command.ts";

const database = await createDatabase();
afterAll(() => database.drop());
const { server, posthorn } = useCommandServer({
  posthorn: {
    sources: [
      {
        name: "shop",
        kind: "polling",
        database: database.connectionString,
        table: "outbox",
        columns: { id: "id", tenant: "customer", data: "body", updatedAt: "updated_at" },
        values: { type: "order.paid" },
        intervalMs: 100,
        delayMs: 0,
      },
    ],
  },
});

test("an operator sees a source with its lag, and skips the row that holds it", async () => {
  const shop = createPool(database.connectionString);
  onTestFinished(() => shop.end());
  await shop.query(`create table outbox (
    id integer primary key, customer text, body json not null, updated_at timestamptz not null default now())`);
  await shop.query(
    `insert into outbox (id, customer, body) values (1, 'acme', '1'), (2, null, '2'), (3, 'acme', '3')`,
  );
  const listed = async () => (await server.call("GET", "/api/v1/sources")).json.data[0];
  await expect.poll(async () => (await listed())?.state).toBe("held");
  expect((await posthorn`sources list`).out).toMatch(/^shop +polling +held +1 .* 2 +tenant must/m);
  expect(await listed()).toMatchObject({ name: "shop", held_row: "2", events: 1, lag_bytes: null });

  expect((await posthorn`sources skip shop --yes`).out).toBe(
    "The row 2 is skipped; the source continues within seconds.\n",
  );
  await expect.poll(async () => (await listed())?.events).toBe(2);
  await expect.poll(async () => (await listed())?.lag_seconds).toEqual(expect.any(Number));
  expect((await posthorn`sources reset shop --yes`).err).toContain("not lost");
  expect((await posthorn`sources delete shop --yes`).err).toContain("remove it from the configuration first");
  const log = await server.call("GET", "/api/v1/audit-log?action=sources.skip");
  expect(log.json.data).toMatchObject([{ target: { source: "shop" }, status: 200 }]);
});

test("a key of a tenant sees no sources, and changes need the scope admin", async () => {
  const { tenant } = await server.newEndpoint({});
  const ofTenant = await server.keyHeaders(["admin"], tenant);
  expect((await server.call("GET", "/api/v1/sources", undefined, ofTenant)).status).toBe(403);
  const reader = await server.keyHeaders(["deliveries:read"]);
  expect((await server.call("GET", "/api/v1/sources", undefined, reader)).status).toBe(200);
  expect((await server.call("POST", "/api/v1/sources/shop/skip", undefined, reader)).status).toBe(403);
});
