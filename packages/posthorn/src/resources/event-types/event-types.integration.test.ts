import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/resources.ts";
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

test.each<[what: string, input: object]>([
  ["description", { description: "x".repeat(MAX_DESCRIPTION_LENGTH) }],
  ["example", { example: "x".repeat(MAX_EXAMPLE_BYTES - 2) }],
  ["example's depth", { example: deep(MAX_JSON_DEPTH) }],
  ["redact", { redact: Array.from({ length: 50 }, (_, at) => `/a${at}`) }],
  ["apiVersion", { apiVersion: "x".repeat(32) }],
])("%s may be as long as its limit", async (_what, input) => {
  await eventTypes.put(newName(), input);
});

test.each<[pointer: string, input: object]>([
  ["/description", { description: "x".repeat(MAX_DESCRIPTION_LENGTH + 1) }],
  ["/example", { example: "x".repeat(MAX_EXAMPLE_BYTES - 1) }],
  ["/redact", { redact: Array.from({ length: 51 }, (_, at) => `/a${at}`) }],
  ["/apiVersion", { apiVersion: "x".repeat(33) }],
  ["/deprecated", { deprecated: "yes" }],
  ["/example", { example: deep(MAX_JSON_DEPTH + 1) }],
  ["/example", { example: { n: 1n } }],
  ["/schema", { schema: deep(50_000) }],
  ["/schema", { schema: [] }],
])("%s is refused past its limit or of another kind", async (pointer, input) => {
  await expect(eventTypes.put(newName(), input as never)).rejects.toMatchObject({
    code: "invalid_event_type",
    problems: [{ pointer }],
  });
});

test("a document that is nested too deep is refused", async () => {
  await expect(eventTypes.import(deep(50_000))).rejects.toMatchObject({ code: "invalid_event_type" });
});

test("an import with one invalid type changes nothing", async () => {
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
  const example = "x".repeat(MAX_EXAMPLE_BYTES - 2);
  const large = (nth: number) => eventTypes.put("large.one", { apiVersion: String(nth), example });
  for (let nth = 0; nth < 64; nth += 1) await large(nth);
  expect(await exported("large.*")).toHaveLength(64);
  await large(64);
  await expect(exported("large.*")).rejects.toMatchObject({
    code: "export_too_large",
    message: expect.stringContaining("type=order.*"),
  });
  await expect(exported()).rejects.toMatchObject({ code: "export_too_large" });
  expect(await exported("part.*")).toHaveLength(3);
  await eventTypes.delete("large.one");
});

test("a page of large types ends at 4 MB, and the next page has the rest", async () => {
  const example = `"${"x".repeat(MAX_EXAMPLE_BYTES - 2)}"`;
  const there = Array.from({ length: 66 }, (_, n) => `very.large_${String(n).padStart(2, "0")}`);
  await world.pool.query(
    "insert into posthorn.event_types (name, api_version, example) select name, '1', $2 from unnest($1::text[]) name",
    [there, example],
  );
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await eventTypes.list({ limit: 250, cursor });
    const ours = page.data.filter(({ name }) => name.startsWith("very.large_")).map(({ name }) => name);
    expect(ours.length).toBeLessThanOrEqual(64);
    seen.push(...ours);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(there);
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
