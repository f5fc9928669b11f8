// Runs examples/transactions.ts, and compares the guide with it.
import { readFileSync } from "node:fs";
import type { Posthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import {
  withDrizzle,
  withKnex,
  withKysely,
  withMikroOrm,
  withObjection,
  withPg,
  withPostgresJs,
  withPrisma,
  withSequelize,
  withSlonik,
  withStatements,
  withTypeOrm,
} from "../../examples/transactions.ts";
import { databasePerFile } from "../support/database/database-per-test.ts";
import { openLibraries } from "../support/database/transaction-libraries.ts";

const world = await databasePerFile();
const { hooks } = await world.open();
await world.pool.query("create table orders (id text primary key, total numeric not null)");

type Example = (db: never, hooks: Posthorn, order: { id: string; total: number }) => PromiseLike<unknown>;

const eventsOf = async (order: string) =>
  (await hooks.events.list({ tenant: "acme" })).data.filter(
    ({ payload }) => JSON.parse(String(payload)).id === order,
  );

test.each([
  { name: "pg", example: withPg as Example },
  { name: "postgres.js", example: withPostgresJs as Example },
  { name: "Drizzle on node-postgres", example: withDrizzle as Example },
  { name: "Drizzle on postgres.js", example: withDrizzle as Example },
  { name: "Kysely", example: withKysely as Example },
  { name: "Knex", example: withKnex as Example },
  { name: "Objection", example: withObjection as Example },
  { name: "Prisma", example: withPrisma as Example },
  { name: "TypeORM's manager", example: withTypeOrm as Example },
  { name: "Sequelize", example: withSequelize as Example },
  { name: "MikroORM", example: withMikroOrm as Example },
  { name: "Slonik", example: withSlonik as Example },
  { name: "Prisma", example: withStatements as Example },
])(
  "$example.name of the examples stores an order with its event, with $name, and neither if the order fails",
  async ({ name, example }) => {
    const library = await openLibraries[name]?.(world.connectionString);
    onTestFinished(async () => void (await library?.close()));
    const order = { id: `${name} ${example.name}`, total: 12 };
    await example(library?.db as never, hooks, order);
    await expect(Promise.resolve(example(library?.db as never, hooks, order))).rejects.toThrow();
    expect(await eventsOf(order.id)).toHaveLength(1);
    const { rows } = await world.pool.query("select total::integer from orders where id = $1", [order.id]);
    expect(rows).toEqual([{ total: order.total }]);
  },
);

test("the guide shows how each library is used in the examples", () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const source = read("examples/transactions.ts");
  const guide = read("docs/guides/transactions.md");
  const rows = guide.split("\n").filter((line) => line.startsWith("| ["));
  expect(rows).toHaveLength(11);
  for (const row of rows) {
    const [begin, publish] = [...row.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
    const from = source.indexOf(begin ?? "missing");
    expect(from, row).toBeGreaterThan(0);
    expect(source.slice(from, source.indexOf("\nexport", from)), row).toContain(publish);
  }
});
