// The commands for event types against a real server, as text and as JSON.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { argv, useCommandServer } from "../../../../../tests/support/servers/run-command.ts";
import { makeTemporaryFolder } from "../../../../../tests/support/temporary-folder.ts";

const { posthorn } = useCommandServer();

const orderPaid = {
  description: "An order was paid in full.",
  schema: { type: "object", required: ["amount"], properties: { amount: { type: "integer" } } },
  example: { amount: 1299 },
  redact: ["/card/number", "/lines/*/iban"],
};
const data = JSON.stringify(orderPaid);

function fileWith(text: string): string {
  const path = join(makeTemporaryFolder(), "data.json");
  writeFileSync(path, text);
  return path;
}

test("event types are registered from a file or standard input, shown, listed and deleted", async () => {
  const saved = await posthorn`event-types put shop.paid --data @${fileWith(data)} --json`;
  const first = { ...orderPaid, name: "shop.paid", api_version: "1", deprecated: false };
  expect(saved.json).toMatchObject(first);
  const flags = argv`--api-version 2 --description ${"Paid, once more."} --deprecated`;
  const second = await posthorn({ stdin: data })`event-types put shop.paid --data - ${flags}`;
  expect(second.out).toMatch(/^version +2\ndescription +Paid, once more\.\ndeprecated +yes$/m);

  const list = await posthorn`event-types list`;
  expect(list.out).toMatch(/^NAME +VERSION +DEPRECATED +SCHEMA +REDACTED +DESCRIPTION$/m);
  expect(list.out).toMatch(/^shop\.paid +1 +no +yes +\/card\/number \/lines\/\*\/iban +An order was paid/m);
  expect(list.out).toMatch(/^shop\.paid +2 +yes +yes /m);

  const newest = await posthorn`event-types get shop.paid`;
  expect(newest.out).toMatch(/^version +2\nother versions +1\n/m);
  expect(newest.out).toContain(`\nschema\n${JSON.stringify(orderPaid.schema, null, 2)}\n`);
  expect(newest.out).toMatch(/\nexample\n\{\n {2}"amount": 1299\n\}\n$/);
  const { json } = await posthorn`event-types get shop.paid --api-version 1 --json`;
  expect(json).toMatchObject({ ...first, versions: ["1", "2"] });

  const one = await posthorn`event-types delete shop.paid --api-version 1`;
  expect(one).toMatchObject({ code: 0, out: "Deleted version 1 of shop.paid.\n" });
  expect((await posthorn`event-types get shop.paid --json`).json.versions).toEqual(["2"]);
  const all = await posthorn`event-types delete shop.paid --json`;
  expect(all.json).toEqual({ name: "shop.paid", api_version: null, deleted: true });
  expect((await posthorn`event-types get shop.paid`).code).toBe(3);
});

test("put accepts the JSON of get, and options override it", async () => {
  await posthorn`event-types put edited.type --data ${data}`;
  const before = await posthorn`event-types get edited.type --json`;
  const put = posthorn({ stdin: before.out });
  const same = await put`event-types put edited.type --data - --json`;
  expect({ ...same.json, updated_at: "", versions: ["1"] }).toEqual({ ...before.json, updated_at: "" });
  const changed = await put`event-types put edited.type --data - --json --description Anew.`;
  expect(changed.json).toMatchObject({ ...orderPaid, description: "Anew." });
});

test("an import can be previewed, and changes nothing the second time", async () => {
  const webhook = { post: { description: "Imported.", requestBody: { content: {} } } };
  const webhooks = { "imported.a": webhook, "imported.b": webhook };
  const document = { openapi: "3.1.0", info: { title: "Shop", version: "1" }, webhooks };
  const run = argv`event-types import --data @${fileWith(JSON.stringify(document))}`;
  expect(await posthorn`${run} --dry-run`).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^NAME +VERSION +CHANGE\nimported\.a +1 +created\nimported\.b +1 +created\n$/),
    err: "Nothing was changed: this was a dry run.\n",
  });
  expect((await posthorn`event-types get imported.a`).code).toBe(3);
  const done = await posthorn`${run} --json`;
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(done.json.data[1]).toEqual({ name: "imported.b", api_version: "1", change: "created" });
  expect((await posthorn`event-types get imported.a`).out).toContain("Imported.");
  expect((await posthorn`${run}`).out).toMatch(/imported\.a +1 +unchanged/);
});

test("an OpenAPI export can be imported again; an AsyncAPI export cannot", async () => {
  await posthorn`event-types put carried.type --data ${data}`;
  const exported = await posthorn`event-types export`;
  expect(exported.json.openapi).toBe("3.1.0");
  expect(exported.out).toContain('"type": "carried.type"');
  expect((await posthorn`event-types export --json`).json).toEqual(exported.json);
  const again = await posthorn({ stdin: exported.out })`event-types import --data - --json`;
  expect(new Set(again.json.data.map((type: { change: string }) => type.change))).toEqual(
    new Set(["unchanged"]),
  );
  const other = await posthorn`event-types export --format asyncapi`;
  expect(other.json.asyncapi).toMatch(/^3\.0/);
  const refused = await posthorn({ stdin: other.out })`event-types import --data -`;
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining("must be OpenAPI 3.1") });
});
