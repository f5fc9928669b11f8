// The commands about event types against a real server, in words and in JSON, and what goes wrong with them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { useCommandServer } from "../../../../../tests/support/command-server.ts";

const { server, posthorn } = useCommandServer();

const orderPaid = {
  description: "An order was paid in full.",
  schema: { type: "object", required: ["amount"], properties: { amount: { type: "integer" } } },
  example: { amount: 1299 },
  redact: ["/card/number", "/lines/*/iban"],
};

function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-catalogue-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** An OpenAPI document with these webhooks. */
function document(...names: string[]): string {
  const webhook = { post: { description: "Imported.", requestBody: { content: {} } } };
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    webhooks: Object.fromEntries(names.map((name) => [name, webhook])),
  });
}

describe("event types", () => {
  test("are registered from a file or standard input, shown, listed and deleted", async () => {
    const path = file("order.json", JSON.stringify(orderPaid));
    const saved = await posthorn(["event-types", "put", "shop.paid", "--data", `@${path}`, "--json"]);
    expect(saved.json).toMatchObject({
      ...orderPaid,
      name: "shop.paid",
      api_version: "1",
      deprecated: false,
    });
    const second = ["event-types", "put", "shop.paid", "--data", "-", "--api-version", "2"];
    const flags = ["--description", "Paid, once more.", "--deprecated"];
    const words = await posthorn([...second, ...flags], { stdin: JSON.stringify(orderPaid) });
    expect(words.out).toMatch(/^version +2\ndescription +Paid, once more\.\ndeprecated +yes$/m);

    const list = await posthorn(["event-types", "list"]);
    expect(list.out).toMatch(/^NAME +VERSION +DEPRECATED +SCHEMA +REDACTED +DESCRIPTION$/m);
    expect(list.out).toMatch(/^shop\.paid +1 +no +yes +\/card\/number \/lines\/\*\/iban +An order was paid/m);
    expect(list.out).toMatch(/^shop\.paid +2 +yes +yes /m);

    const newest = await posthorn(["event-types", "get", "shop.paid"]);
    expect(newest.out).toMatch(/^version +2\nother versions +1\n/m);
    expect(newest.out).toContain(`\nschema\n${JSON.stringify(orderPaid.schema, null, 2)}\n`);
    expect(newest.out).toMatch(/\nexample\n\{\n {2}"amount": 1299\n\}\n$/);
    const first = await posthorn(["event-types", "get", "shop.paid", "--api-version", "1", "--json"]);
    expect(first.json).toMatchObject({ ...orderPaid, versions: ["1", "2"] });

    const remove = ["event-types", "delete", "shop.paid"];
    const one = await posthorn([...remove, "--api-version", "1"]);
    expect(one).toMatchObject({ code: 0, out: "Deleted version 1 of shop.paid.\n" });
    expect((await posthorn(["event-types", "get", "shop.paid", "--json"])).json.versions).toEqual(["2"]);
    expect((await posthorn([...remove, "--json"])).json).toEqual({
      name: "shop.paid",
      api_version: null,
      deleted: true,
    });
    expect((await posthorn(["event-types", "get", "shop.paid"])).code).toBe(3);
  });

  test("put accepts the JSON of get, and options override it", async () => {
    await posthorn(["event-types", "put", "edited.type", "--data", JSON.stringify(orderPaid)]);
    const before = await posthorn(["event-types", "get", "edited.type", "--json"]);
    const put = ["event-types", "put", "edited.type", "--data", "-", "--json"];
    const same = await posthorn(put, { stdin: before.out });
    expect({ ...same.json, updated_at: "", versions: ["1"] }).toEqual({ ...before.json, updated_at: "" });
    const changed = await posthorn([...put, "--description", "Anew."], { stdin: before.out });
    expect(changed.json).toMatchObject({ ...orderPaid, description: "Anew." });
    const other = await posthorn(["event-types", "put", "another.type", "--data", before.out]);
    expect([other.code, other.err]).toEqual([
      2,
      '--data is for "edited.type", not for another.type. Use the same type in both places.\n',
    ]);
  });

  test("put replaces a version completely", async () => {
    await posthorn(["event-types", "put", "replaced.type", "--data", JSON.stringify(orderPaid)]);
    const { json } = await posthorn(["event-types", "put", "replaced.type", "--json"]);
    expect(json).toMatchObject({ description: null, schema: null, example: null, redact: [] });
    const { out } = await posthorn(["event-types", "get", "replaced.type"]);
    expect(out).not.toMatch(/^(schema|example)$/m);
  });

  test("a list is read page by page, and prints the next cursor", async () => {
    for (const name of ["paged.a", "paged.b", "paged.c"]) await posthorn(["event-types", "put", name]);
    const first = await posthorn(["event-types", "list", "--limit", "2", "--json"]);
    expect(first.json.data).toHaveLength(2);
    const all = await posthorn(["event-types", "list", "--limit", "1000", "--json"]);
    const rest = await posthorn(["event-types", "list", "--cursor", first.json.next_cursor, "--json"]);
    expect([...first.json.data, ...rest.json.data]).toEqual(all.json.data);
    const words = await posthorn(["event-types", "list", "--limit", "2"]);
    expect(words.err).toBe(`There are more: use --limit 4 or --cursor ${first.json.next_cursor}\n`);
  });

  test("delete asks for confirmation on a terminal", async () => {
    await posthorn(["event-types", "put", "asked.type"]);
    const remove = ["event-types", "delete", "asked.type"];
    const no = await posthorn(remove, { answers: "n" });
    expect(no).toMatchObject({ code: 1, out: "" });
    expect(no.err).toMatch(
      /^This deletes all versions of asked\.type\. A strict catalogue then rejects its events\. Continue\? \[y\/N\] /,
    );
    expect((await posthorn([...remove, "--yes"], { answers: "n" })).out).toBe(
      "Deleted all versions of asked.type.\n",
    );
  });

  test("control characters are removed from descriptions, schemas and examples", async () => {
    const hostile = "\u001b[2J\u009b31m\u202eevil";
    const data = { description: hostile, schema: { title: hostile }, example: { [hostile]: hostile } };
    await posthorn(["event-types", "put", "hostile.type", "--data", JSON.stringify(data)]);
    const commands = [["get", "hostile.type"], ["list", "--limit", "1000"], ["export"]];
    for (const args of commands) {
      for (const more of [[], ["--json"]]) {
        const { out, code } = await posthorn(["event-types", ...args, ...more]);
        expect([args, code]).toEqual([args, 0]);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      }
    }
    await posthorn(["event-types", "delete", "hostile.type"]);
  });

  test("deprecated types are coloured on a terminal with colours", async () => {
    await posthorn(["event-types", "put", "old.type", "--deprecated"]);
    const list = ["event-types", "list", "--limit", "1000"];
    expect((await posthorn(list, { hasColors: true })).out).toContain("\u001b[33myes");
    expect((await posthorn(list)).out).not.toContain("\u001b");
  });
});

describe("import and export", () => {
  test("an import can be previewed, and changes nothing the second time", async () => {
    const path = file("openapi.json", document("imported.a", "imported.b"));
    const run = ["event-types", "import", "--data", `@${path}`];
    const dry = await posthorn([...run, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, err: "Nothing was changed: this was a dry run.\n" });
    expect(dry.out).toMatch(/^NAME +VERSION +CHANGE\nimported\.a +1 +created\nimported\.b +1 +created\n$/);
    expect((await posthorn(["event-types", "get", "imported.a"])).code).toBe(3);
    const done = await posthorn([...run, "--json"]);
    expect(done).toMatchObject({ code: 0, err: "" });
    expect(done.json.data[1]).toEqual({ name: "imported.b", api_version: "1", change: "created" });
    expect((await posthorn(["event-types", "get", "imported.a"])).out).toContain("Imported.");
    expect((await posthorn(run)).out).toMatch(/imported\.a +1 +unchanged/);
  });

  test("an OpenAPI export can be imported again; an AsyncAPI export cannot", async () => {
    await posthorn(["event-types", "put", "carried.type", "--data", JSON.stringify(orderPaid)]);
    const exported = await posthorn(["event-types", "export"]);
    expect(exported.json.openapi).toBe("3.1.0");
    expect(exported.out).toContain('"type": "carried.type"');
    expect((await posthorn(["event-types", "export", "--json"])).json).toEqual(exported.json);
    const again = ["event-types", "import", "--data", "-", "--json"];
    const { json } = await posthorn(again, { stdin: exported.out });
    expect(new Set(json.data.map(({ change }: { change: string }) => change))).toEqual(
      new Set(["unchanged"]),
    );
    const async = await posthorn(["event-types", "export", "--format", "asyncapi"]);
    expect(async.json.asyncapi).toMatch(/^3\.0/);
    const refused = await posthorn(again, { stdin: async.out });
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("must be OpenAPI 3.1")]);
  });

  test("a document with an invalid webhook registers nothing, and all errors are reported", async () => {
    const wrong = await posthorn(["event-types", "import", "--data", "-"], {
      stdin: document("half.good", "Not A Type", "webhook.mine"),
    });
    expect([wrong.code, wrong.out]).toEqual([3, ""]);
    expect(wrong.err).toContain("/document/webhooks/Not A Type");
    expect(wrong.err).toContain("/document/webhooks/webhook.mine");
    expect((await posthorn(["event-types", "get", "half.good"])).code).toBe(3);
  });
});

describe("what goes wrong", () => {
  test.each<[args: string[], says: string]>([
    [["get", "no.such.type"], 'no event type "no.such.type"'],
    [["get", "Not A Type"], "There is no event type of that name. List them to see their names."],
    [["delete", "no.such.type", "--api-version", "9"], "no.such.type"],
    [["put", "Order.Paid"], "A type is lower-case words joined by dots"],
    [["put", "webhook.mine"], "webhook."],
    [["put", "a.b", "--api-version", "one two"], "api_version"],
    [["put", "a.b", "--data", '{"schema":{"properties":{"n":{"type":"x"}}}}'], "/schema/properties/n/type: "],
    [["put", "a.b", "--data", '{"schemas":{}}'], "schemas"],
    [["import", "--data", '{"openapi":"3.0.3"}'], "must be OpenAPI 3.1"],
    [["import", "--data", '{"openapi":"3.1.0"}'], "has no webhooks"],
    [["list", "--cursor", "nonsense"], "cursor"],
  ])("event-types %j is rejected by the server with a reason", async (args, says) => {
    const result = await posthorn(["event-types", ...args]);
    expect([result.code, result.out]).toEqual([3, ""]);
    expect(result.err).toContain(says);
  });

  test.each<[args: string[], says: string]>([
    [["get"], "missing required argument"],
    [["get", "export"], "Did you mean `posthorn event-types export`?"],
    [["put", "import"], "Did you mean `posthorn event-types import`?"],
    [["delete", "import"], "Did you mean `posthorn event-types import`?"],
    [["get", ".."], '".." is not an id'],
    [["put", "a.b", "--data", "[]"], "--data must be a JSON object"],
    [["put", "a.b", "--data", "{"], "--data is not JSON"],
    [["import"], "--data"],
    [["import", "--data", "openapi.json"], "Use JSON such as '{\"id\":1}', @file, or - for standard input"],
    [["import", "--data", "@/nowhere/openapi.json"], "/nowhere/openapi.json, which cannot be read (ENOENT)"],
    [["import", "--data", "@openapi.yaml"], "openapi.yaml is YAML; only JSON is supported"],
    [["import", "--data", "-"], "Standard input is not JSON"],
    [["export", "--format", "raml"], "Allowed choices are openapi, asyncapi"],
    [["list", "--limit", "0"], "--limit must be a whole number from 1"],
  ])("event-types %j is a usage error", async (args, says) => {
    const result = await posthorn(["event-types", ...args]);
    expect([result.code, result.out]).toEqual([2, ""]);
    expect(result.err).toContain(says);
  });

  test("a file that is not JSON is named, and no request is sent", async () => {
    const path = file("openapi.json", "openapi: 3.1.0");
    const result = await posthorn(["event-types", "import", "--data", `@${path}`]);
    expect([result.code, result.out]).toEqual([2, ""]);
    expect(result.err).toContain(`${path} is not JSON: `);
  });

  test("a key that can only read the catalogue gets an error that names the missing scope", async () => {
    const create = ["keys", "create", "reader", "--scopes", "deliveries:read", "--json"];
    const { key } = (await posthorn(create)).json;
    const as = (...args: string[]) => posthorn(["event-types", ...args, "--key", key]);
    expect((await as("list")).code).toBe(0);
    expect((await as("export")).code).toBe(0);
    const before = (await server().call("GET", "/api/v1/event-types")).text;
    const changes = [
      ["put", "mine.type"],
      ["delete", "old.type"],
      ["import", "--data", document("mine.type")],
    ];
    for (const args of changes) {
      expect(await as(...args)).toMatchObject({
        code: 3,
        out: "",
        err: "This needs the scope admin, which the key lacks. Set a key with this permission with --key or POSTHORN_API_KEY.\n",
      });
    }
    expect((await server().call("GET", "/api/v1/event-types")).text).toBe(before);
    const json = JSON.parse((await as("put", "mine.type", "--json")).err);
    expect(json.error).toMatchObject({ code: "forbidden", status: 403 });
  });
});
