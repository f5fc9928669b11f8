import { expect, test } from "vitest";
import { openResources, readPages } from "../../../../../tests/support/database/resources.ts";
import { MAX_JSON_DEPTH } from "../../json-schema/json-text.ts";
import { MAX_DESCRIPTION_LENGTH, MAX_EXAMPLE_BYTES } from "./event-type-input.ts";
import { MAX_EVENT_TYPES } from "./event-types.ts";

const world = await openResources();
const { eventTypes } = world;

/** An object in an object in an object … */
function deep(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level += 1) value = { not: value };
  return value;
}

let names = 0;
function newName(): string {
  names += 1;
  return `order.kind_${names}`;
}

/** Adds types whose examples have the maximum size. */
async function addLarge(types: readonly string[]): Promise<void> {
  await world.pool.query(
    "insert into posthorn.event_types (name, api_version, example) select name, '1', $2 from unnest($1::text[]) name",
    [types, `"${"x".repeat(MAX_EXAMPLE_BYTES - 2)}"`],
  );
}

async function version(): Promise<number> {
  const { rows } = await world.pool.query("select version from posthorn.catalogue");
  return Number(rows[0].version);
}

test("a type is returned as it was registered", async () => {
  const name = newName();
  const given = {
    apiVersion: "2026-11",
    description: "Paid.",
    schema: { properties: { b: {}, a: { minimum: 1.5 } } },
    example: { a: 2 },
    redact: ["/card"],
    deprecated: true,
  };
  const saved = await eventTypes.put(name, given);
  expect(saved).toEqual({ name, ...given, createdAt: expect.any(Date), updatedAt: expect.any(Date) });
  expect(JSON.stringify(saved.schema)).toBe(JSON.stringify(given.schema));
  expect(await eventTypes.get(name)).toEqual({ ...saved, versions: ["2026-11"] });
});

test("put replaces the whole type, and an equal one changes nothing", async () => {
  const name = newName();
  const first = await eventTypes.put(name, { description: "Paid.", redact: ["/card"] });
  const before = await version();
  expect(await eventTypes.put(name, { description: "Paid.", redact: ["/card"] })).toEqual(first);
  expect(await version()).toBe(before);
  expect(await eventTypes.put(name, {})).toMatchObject({ description: null, redact: [] });
  expect(await version()).toBe(before + 1);
});

test("the version registered last is returned, and a deleted one can be registered again", async () => {
  const name = newName();
  for (const apiVersion of ["2", "1"]) await eventTypes.put(name, { apiVersion, description: apiVersion });
  expect((await eventTypes.get(name)).apiVersion).toBe("1");
  await eventTypes.delete(name, { apiVersion: "1" });
  expect(await eventTypes.get(name)).toMatchObject({ apiVersion: "2", versions: ["2"] });
  const gone = { code: "event_type_not_found" };
  await expect(eventTypes.get(name, { apiVersion: "1" })).rejects.toMatchObject(gone);
  await expect(eventTypes.delete(name, { apiVersion: "1" })).rejects.toMatchObject(gone);
  await expect(eventTypes.delete(name, { apiVersion: "\0" })).rejects.toMatchObject(gone);
  await eventTypes.put(name, { apiVersion: "1" });
  expect(await eventTypes.get(name)).toMatchObject({ apiVersion: "1", description: null });
});

const paths = (count: number) => Array.from({ length: count }, (_, at) => `/a${at}`);

test.each<[field: string, accepted: readonly unknown[], refused: readonly unknown[]]>([
  ["description", ["x".repeat(MAX_DESCRIPTION_LENGTH)], ["x".repeat(MAX_DESCRIPTION_LENGTH + 1)]],
  ["example", ["x".repeat(MAX_EXAMPLE_BYTES - 2)], ["x".repeat(MAX_EXAMPLE_BYTES - 1), { n: 1n }]],
  ["example", [deep(MAX_JSON_DEPTH)], [deep(MAX_JSON_DEPTH + 1)]],
  ["redact", [paths(50)], [paths(51)]],
  ["apiVersion", ["x".repeat(32)], ["x".repeat(33)]],
  ["deprecated", [true], ["yes"]],
  ["schema", [{}], [deep(50_000), []]],
])(
  "%s is accepted up to its limit, and refused past it or of another kind",
  async (field, accepted, refused) => {
    for (const value of accepted) await eventTypes.put(newName(), { [field]: value });
    for (const value of refused) {
      await expect(eventTypes.put(newName(), { [field]: value })).rejects.toMatchObject({
        code: "invalid_event_type",
        problems: [{ pointer: `/${field}` }],
      });
    }
  },
);

test("an import with one invalid type, or nested too deep, changes nothing", async () => {
  const name = newName();
  const document = {
    openapi: "3.1.0",
    webhooks: { [name]: { post: {} }, "webhook.mine": { post: {} }, second: { get: {} } },
  };
  await expect(eventTypes.import(document)).rejects.toMatchObject({
    code: "invalid_event_type",
    problems: [{ pointer: "/webhooks/webhook.mine" }, { pointer: "/webhooks/second" }],
  });
  await expect(eventTypes.get(name)).rejects.toMatchObject({ code: "event_type_not_found" });
  await expect(eventTypes.import(deep(50_000))).rejects.toMatchObject({ code: "invalid_event_type" });
});

test("an export has one type, those of a prefix or all, and is refused if it is too large", async () => {
  for (const name of ["part.paid", "part.paid.late", "party.begun"]) await eventTypes.put(name);
  await eventTypes.put("part.paid", { apiVersion: "2" });
  const exported = async (type?: string) =>
    Object.keys((await eventTypes.export("openapi", { type })).webhooks as object);
  const before = await exported();
  expect(before).toEqual(expect.arrayContaining(["part.paid-1", "party.begun-1"]));
  expect(await exported("*")).toEqual(before);
  expect(await exported("part.paid")).toHaveLength(2);
  expect(await exported("part.*")).toHaveLength(3);
  expect(await exported("none.*")).toEqual([]);
  for (const wrong of ["", "*.paid", "part*", ".*", "Part.*", "part.*.*"]) {
    await expect(exported(wrong)).rejects.toMatchObject({
      code: "invalid_query",
      problems: [{ pointer: "/type" }],
    });
  }

  // 64 KB each: 64 of them are 4 MB
  const names = Array.from({ length: 65 }, (_, n) => `large.n${n}`);
  await addLarge(names.slice(0, 64));
  expect(await exported("large.*")).toHaveLength(64);
  await addLarge(names.slice(64));
  await expect(exported("large.*")).rejects.toMatchObject({
    code: "export_too_large",
    message: expect.stringContaining("type=order.*"),
  });
  await expect(exported()).rejects.toMatchObject({ code: "export_too_large" });
  expect(await exported("part.*")).toHaveLength(3);
  await world.pool.query("delete from posthorn.event_types where name = any ($1)", [names]);
});

test("a page of large types ends at 4 MB, and the next page has the rest", async () => {
  const there = Array.from({ length: 66 }, (_, n) => `very.large_${String(n).padStart(2, "0")}`);
  await addLarge(there);
  const pages = await readPages((cursor) => eventTypes.list({ limit: 250, cursor }));
  const ours = pages.map((page) => page.map(({ name }) => name).filter((name) => there.includes(name)));
  expect(Math.max(...ours.map(({ length }) => length))).toBeLessThanOrEqual(64);
  expect(ours.flat()).toEqual(there);
});

test("the catalogue's limit of types holds", async () => {
  const { rows } = await world.pool.query(
    "select count(*) from posthorn.event_types where deleted_at is null",
  );
  const room = MAX_EVENT_TYPES - Number(rows[0].count);
  await world.pool.query(
    "insert into posthorn.event_types (name, api_version) select 'filler.n' || n, '1' from generate_series(1, $1::int) n",
    [room - 1],
  );
  const last = newName();
  await eventTypes.put(last, {});
  await eventTypes.put(last, { description: "changed" });
  const before = await version();
  await expect(eventTypes.put(newName(), {})).rejects.toMatchObject({ code: "event_type_limit_reached" });
  const document = { openapi: "3.1.0", webhooks: { [newName()]: { post: {} } } };
  for (const dryRun of [true, false]) {
    await expect(eventTypes.import(document, { dryRun })).rejects.toMatchObject({
      code: "event_type_limit_reached",
    });
  }
  expect(await version()).toBe(before);
  await eventTypes.delete(last);
  await eventTypes.put(newName(), {});
});
