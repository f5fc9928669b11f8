// A catalogue from a module to the server, back as JSON, as a module and as TypeScript types, which tsc checks.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { commandsIn } from "../../../../../tests/support/servers/run-command.ts";
import { adminKey, startServer } from "../../../../../tests/support/servers/start-server.ts";

const root = new URL("../../../../../", import.meta.url);
const run = promisify(execFile);

/** A server with an empty catalogue, and a folder below node_modules, so that imports resolve. */
async function openWorld() {
  const server = await startServer({ started: false });
  const cache = fileURLToPath(new URL("node_modules/.cache/", root));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${cache}catalog-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    server,
    folder,
    posthorn: commandsIn(() => ({ POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey })),
    write: (name: string, text: string) => {
      writeFileSync(`${folder}/${name}`, text);
      return `${folder}/${name}`;
    },
  };
}

const MODULE = `
import { z } from "zod";
export const events = {
  "order.paid": {
    version: "2",
    description: "An order was paid.",
    schema: z.object({ total: z.number(), currency: z.enum(["EUR", "USD"]).describe("ISO 4217.") }),
    redact: ["/card"],
  },
  "order.sent": { schema: { type: "object", required: ["parcels"], properties: { parcels: { type: "array", items: { $ref: "#/$defs/parcel" } } }, $defs: { parcel: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false } } } },
  "plain.event": { schema: { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } } },
};`;

test("a module is compared and pushed, and what it has is pulled and pushed again unchanged", async () => {
  const { server, posthorn, write } = await openWorld();
  const file = write("events.mjs", MODULE);
  const before = await posthorn`catalog diff ${file} --exit-code --json`;
  expect([before.code, before.json]).toMatchObject([
    1,
    [
      { name: "order.paid", api_version: "2", change: "new" },
      { name: "order.sent", api_version: "1", change: "new" },
      { name: "plain.event", api_version: "1", change: "new" },
    ],
  ]);
  expect((await posthorn`catalog push ${file} --dry-run`).err).toContain("Nothing was changed");
  expect((await server.call("GET", "/api/v1/event-types")).json.data).toEqual([]);
  const pushed = await posthorn`catalog push ${file}`;
  expect(pushed.out).toMatch(/order\.paid +2 +new/);
  expect(pushed.err).toBe("plain.event has no schema: its validator does not provide a JSON Schema.\n");
  expect(await posthorn`catalog diff ${file} --exit-code`).toMatchObject({
    code: 0,
    out: "The catalogues are the same.\n",
  });
  const pulled = await posthorn`catalog pull`;
  expect(pulled.json.event_types).toMatchObject([
    { name: "order.paid", api_version: "2", redact: ["/card"], description: "An order was paid." },
    { name: "order.sent", api_version: "1", example: null },
    { name: "plain.event", api_version: "1", schema: null },
  ]);
  const json = write("catalogue.json", pulled.out);
  expect((await posthorn`catalog push ${json} --json`).json).toEqual([]);
});

test("changed fields are named, and only --prune deletes what the file lacks", async () => {
  const { server, posthorn, write } = await openWorld();
  await server.call("PUT", "/api/v1/event-types/old.type", {});
  await server.call("PUT", "/api/v1/event-types/order.paid", { api_version: "2", description: "Paid." });
  const file = write("events.mjs", MODULE);
  expect((await posthorn`catalog diff ${file} --json`).json).toMatchObject([
    { name: "old.type", change: "only on the server" },
    { name: "order.paid", change: "changed", fields: ["description", "schema", "redact"] },
    { name: "order.sent", change: "new" },
    { name: "plain.event", change: "new" },
  ]);
  const names = async () =>
    (await server.call("GET", "/api/v1/event-types")).json.data.map(({ name }: { name: string }) => name);
  await posthorn`catalog push ${file}`;
  expect(await names()).toEqual(["old.type", "order.paid", "order.sent", "plain.event"]);
  await posthorn`catalog push ${file} --prune`;
  expect(await names()).toEqual(["order.paid", "order.sent", "plain.event"]);
});

test("the catalogue is pulled as a module, with the version of each type that was registered last", async () => {
  const { posthorn, write } = await openWorld();
  const types = [
    { name: "a.b", api_version: "1" },
    { name: "a.b", api_version: "2", schema: { type: "string" }, deprecated: true },
    { name: "any.data", api_version: "1" },
  ];
  await posthorn`catalog push ${write("catalogue.json", JSON.stringify({ event_types: types }))}`;
  const { out, err } = await posthorn`catalog pull --format module`;
  expect(out).toContain('import { event } from "posthorn";\n\nexport const events = {\n  "a.b": event({');
  expect(out).toContain('"version": "2"');
  expect(err).toBe("a.b 1 is left out: a module has one version of a type.\n");
  const withoutImport = out.replace(/^import.*$/m, "const event = (declaration) => declaration;");
  const file = write("pulled.mjs", withoutImport);
  expect((await posthorn`catalog diff ${file} --json`).json).toEqual([
    { name: "a.b", api_version: "1", change: "only on the server", fields: [] },
  ]);
});

test.each([
  ["missing.mjs", null, "cannot be loaded"],
  ["wrong.mjs", "export const other = 1;", "exports no types"],
  ["invalid.mjs", 'export const events = { "Order Paid": { schema: {} } };', "is not a valid type"],
  ["wrong.json", "[]", "has no list event_types"],
  ["broken.json", "{", "is not JSON"],
  [
    "redact.json",
    '{"event_types": [{"name": "a.b", "redact": null}]}',
    "has a redact of a.b that is not a list",
  ],
])("%s is refused with what to do, and nothing is sent", async (name, text, message) => {
  const { folder, posthorn, write } = await openWorld();
  const file = text === null ? `${folder}/${name}` : write(name, text);
  const { code, err } = await posthorn`catalog push ${file}`;
  expect([code === 0, err]).toEqual([false, expect.stringContaining(message)]);
});

const PROGRAM = `
import { createClient } from "@posthorn/client";
import type { EventTypes, OrderPaidV2 } from "./events.ts";

const client = createClient<EventTypes>({ url: "http://127.0.0.1:1", key: "none" });
const paid: OrderPaidV2 = { total: 1, currency: "EUR" };
const tenant = "acme";

export const publish = async () => {
  await client.events.publish({ body: { tenant, type: "order.paid", data: paid, api_version: "2" } });
  await client.events.publish({ body: { tenant, type: "order.sent", data: { parcels: [{ id: "1" }] } } });
  await client.events.publish({ body: [{ tenant, type: "plain.event", data: [1, "any"], subject: "s" }] });
  await client.events.publish({ body: { user: "anna", type: "two.versions", api_version: "1", data: 1 } });
  await client.events.publish({ body: { tenant, type: "two.versions", api_version: "2", data: { self: { self: null } } } });
  await client.events.list({ query: { tenant } });

  // @ts-expect-error a missing field
  await client.events.publish({ body: { tenant, type: "order.paid", data: { total: 1 } } });
  // @ts-expect-error a wrong type
  await client.events.publish({ body: { tenant, type: "order.paid", data: { total: "1", currency: "EUR" } } });
  // @ts-expect-error not one of the values
  await client.events.publish({ body: { tenant, type: "order.paid", data: { total: 1, currency: "GBP" } } });
  // @ts-expect-error a wrong field in a definition
  await client.events.publish({ body: { tenant, type: "order.sent", data: { parcels: [{ id: 1 }] } } });
  // @ts-expect-error the data of another version
  await client.events.publish({ body: { tenant, type: "two.versions", api_version: "2", data: 1 } });
  // @ts-expect-error a type with two versions needs one
  await client.events.publish({ body: { tenant, type: "two.versions", data: 1 } });
  // @ts-expect-error an unknown version
  await client.events.publish({ body: { tenant, type: "order.paid", api_version: "3", data: paid } });
  // @ts-expect-error an unknown type
  await client.events.publish({ body: { tenant, type: "order.payed", data: paid } });
  // @ts-expect-error wrong data in a list
  await client.events.publish({ body: [{ tenant, type: "order.paid", data: 1 }] });
};
`;

test("the generated types are the same every time, and tsc checks with them what is published", async () => {
  const { server, folder, posthorn, write } = await openWorld();
  await posthorn`catalog push ${write("events.mjs", MODULE)}`;
  const tree = { type: "object", properties: { self: { anyOf: [{ $ref: "#" }, { type: "null" }] } } };
  const name = "/api/v1/event-types/two.versions";
  await server.call("PUT", name, { api_version: "2", schema: tree });
  await server.call("PUT", name, { api_version: "1", schema: { type: "integer" }, deprecated: true });
  const { out } = await posthorn`catalog types`;
  expect((await posthorn`catalog types`).out).toBe(out);
  expect(out).toContain(
    '/** An order was paid. */\nexport type OrderPaidV2 = {\n  total: number;\n  /** ISO 4217. */\n  currency: "EUR" | "USD";\n};',
  );
  expect(out).toContain("/** @deprecated */\nexport type TwoVersionsV1 = number;");
  write("events.ts", out);
  write("program.ts", PROGRAM);
  const config = {
    extends: "../../../tsconfig.tests.json",
    include: ["*.ts"],
    references: [],
    compilerOptions: { composite: false, tsBuildInfoFile: null, noEmit: true, lib: ["es2023", "dom"] },
  };
  write("tsconfig.json", JSON.stringify(config));
  const tsc = fileURLToPath(new URL("node_modules/.bin/tsc", root));
  const problems = await run(tsc, ["--project", folder]).then(
    () => null,
    (error) => error.stdout || error,
  );
  expect(problems).toBeNull();
}, 60_000);
