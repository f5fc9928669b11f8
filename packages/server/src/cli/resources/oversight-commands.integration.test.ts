// The commands that look over the whole, `stats` and `audit`, against a real server.
import { describe, expect, test } from "vitest";
import { receiver, useCommandServer } from "../../../../../tests/support/command-server.ts";

const { server, posthorn, makeEndpoint, deliveryOf } = useCommandServer();

async function publish(tenant: string): Promise<string> {
  return (await posthorn(["publish", "order.paid", "--tenant", tenant, "--json"])).json.id;
}

describe("stats", () => {
  test("shows the backlog, dead letters, recent results and next steps on one screen", async () => {
    await makeEndpoint("counted", await receiver(200));
    await makeEndpoint("dying", await receiver(400));
    await makeEndpoint("failing", await receiver(503));
    await deliveryOf(await publish("counted"), "success");
    await deliveryOf(await publish("dying"), "dead");
    await deliveryOf(await publish("failing"), "failed");
    const { out, err } = await posthorn(["stats"]);
    expect(err).toBe("");
    for (const line of [
      /^Now$/m,
      /^pending +0$/m,
      /^in flight +0$/m,
      /^failed, to be retried +1$/m,
      /^dead letters +1$/m,
      /^Finished, for events since 20\S+ \S+Z \(last hour\)$/m,
      /^delivered +1$/m,
      /^dead +1$/m,
      /^success rate +50\.0 %$/m,
      /^latency +p50 \d+ ms, p95 \d+ ms, p99 \d+ ms$/m,
      /^→ Retry queue: posthorn deliveries retry-queue$/m,
      /^→ Dead letters: posthorn deliveries list --state dead$/m,
    ])
      expect(out).toMatch(line);
    expect(out.split("\n").length).toBeLessThan(24);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("can be limited to a tenant, endpoint and period, and printed as JSON", async () => {
    const id = await makeEndpoint("narrow", await receiver(400));
    await deliveryOf(await publish("narrow"), "dead");
    const ofOne = await posthorn(["stats", "--tenant", "narrow", "--endpoint", id, "--period", "day"]);
    expect(ofOne.out).toMatch(/^dead letters +1$/m);
    expect(ofOne.out).toContain("(last day)");
    expect(ofOne.out).toContain(`list --state dead --tenant narrow --endpoint ${id}\n`);
    expect(ofOne.out).not.toContain("retry-queue");
    const { json } = await posthorn(["stats", "--tenant", "narrow", "--json"]);
    expect(json).toMatchObject({
      now: { pending: { count: 0, is_exact: true }, dead: { count: 1 } },
      ended: { success: { count: 0 }, dead: { count: 1 }, success_rate: 0, latency_ms: null },
    });
    const quiet = await posthorn(["stats", "--tenant", "nobody"]);
    expect(quiet.out).toMatch(/^success rate +–\nlatency +–\n$/m);
    expect(quiet.out).not.toContain("→");
  });
});

describe("audit", () => {
  test("lists actor, action, target and result, newest first", async () => {
    await posthorn(["tenants", "put", "watched", "--name", "Watched"]);
    const create = ["keys", "create", "ops", "--tenant", "watched", "--scopes", "admin", "--json"];
    const { id: keyId, key } = (await posthorn(create)).json;
    await posthorn(["members", "put", "ann", "--tenant", "watched", "--role", "owner"]);
    const token = await posthorn(["members", "token", "ann", "--tenant", "watched", "--json"]);
    const made = ["endpoints", "create", "https://a.example/in", "--tenant", "watched", "--json", "--key"];
    const endpoint = (await posthorn([...made, key])).json.id;
    await posthorn(["endpoints", "disable", endpoint, "--tenant", "watched", "--key", token.json.key]);
    await posthorn(["endpoints", "create", "ftp://a.example", "--tenant", "watched"]);

    const { out, json } = await posthorn(["audit", "list", "--tenant", "watched"]);
    expect(json).toBeUndefined();
    const [title, refused, disabled, created, ...rest] = out.split("\n");
    expect(title).toMatch(/^AT +ACTOR +TENANT +ACTION +RESULT +TARGET +CHANGES$/);
    expect(refused).toMatch(
      /^20\S+ \S+Z +admin key +watched +endpoints\.create +422 invalid_endpoint +– +\{"url":"ftp:/,
    );
    expect(disabled).toMatch(
      new RegExp(`ann by ${token.json.id} +watched +endpoints.disable +200 +endpoint ${endpoint} +–$`),
    );
    expect(created).toMatch(
      new RegExp(`key ${keyId} +watched +endpoints.create +200 +made ${endpoint} +{.*"url":"https://a.ex`),
    );
    expect(rest.at(-2)).toMatch(/admin key +watched +tenants\.put +200 +– +{"name":"Watched"}/);
    const inJson = await posthorn(["audit", "list", "--tenant", "watched", "--json"]);
    expect(inJson.json).toMatchObject({ next_cursor: null });
    expect(inJson.json.data[0]).toMatchObject({
      actor: { kind: "admin", id: null, user: null },
      error_code: "invalid_endpoint",
    });
  });

  test("is filtered by operation and time, and read page by page", async () => {
    for (const name of ["One", "Two", "Three"]) await posthorn(["tenants", "put", "paged", "--name", name]);
    await posthorn(["members", "put", "bob", "--tenant", "paged", "--role", "member"]);
    const list = ["audit", "list", "--tenant", "paged", "--json"];
    const names = async (...more: string[]) =>
      (await posthorn([...list, ...more])).json.data.map(({ changes }: { changes: object }) => changes);
    expect(await names("--action", "tenants.put")).toEqual([
      { name: "Three" },
      { name: "Two" },
      { name: "One" },
    ]);
    const first = await posthorn([...list, "--action", "tenants.put", "--limit", "2"]);
    expect(first.json.data).toHaveLength(2);
    const next = ["--action", "tenants.put", "--cursor", first.json.next_cursor];
    expect(await names(...next)).toEqual([{ name: "One" }]);
    expect(await names("--since", "1h")).toHaveLength(4);
    expect(await names("--until", "1h")).toEqual([]);
    const [{ at }] = first.json.data;
    expect(await names("--since", at, "--action", "tenants.put")).toEqual([{ name: "Three" }]);
  });

  test("an unknown action is rejected with a suggestion", async () => {
    const { code, err } = await posthorn(["audit", "list", "--action", "endpoint.update"]);
    expect([code, err]).toEqual([3, expect.stringContaining("Did you mean endpoints.update?")]);
    const none = await posthorn(["audit", "list", "--tenant", "nobody"]);
    expect(none.out).toBe("No entries found.\n");
  });

  test("a change that a server did not finish has an unknown result", async () => {
    await server().hooks.auditLog.begin({
      actorKind: "admin",
      actorId: null,
      actorUser: null,
      actorTenant: null,
      tenant: "interrupted",
      action: "tenants.delete",
      target: { tenant: "interrupted" },
      changes: null,
      requestId: "req_1",
      address: null,
    });
    const { out } = await posthorn(["audit", "list", "--tenant", "interrupted"]);
    expect(out).toMatch(/admin key +interrupted +tenants\.delete +unknown +– +–\n$/);
  });

  test("a long change is cut in the table and complete in JSON", async () => {
    const events = Array.from({ length: 60 }, (_, index) => `long.type_${index}`);
    await makeEndpoint("long", "https://a.example/in");
    const create = ["endpoints", "create", "https://b.example/in", "--tenant", "long"];
    await posthorn([...create, "--events", events.join(",")]);
    const list = ["audit", "list", "--tenant", "long", "--limit", "1"];
    const [, row = ""] = (await posthorn(list)).out.split("\n");
    expect(row).toContain("long.type_0");
    expect(row).not.toContain("long.type_59");
    expect((await posthorn([...list, "--json"])).json.data[0].changes.events).toEqual(events);
    const [, narrow = ""] = (await posthorn(list, { columns: 100 })).out.split("\n");
    expect([...narrow].length).toBeLessThanOrEqual(100);
  });
});

describe("what goes wrong", () => {
  test.each<[args: string[], code: number, says: string]>([
    [["stats", "--period", "week"], 2, "Allowed choices are hour, day"],
    [["stats", "--endpoint", "nonsense"], 3, "endpoint"],
    [["stats", "--tenant", ""], 2, "is not an id"],
    [["audit"], 2, "list"],
    [["audit", "list", "--since", "yesterday"], 2, "--since must be a time such as"],
    [["audit", "list", "--limit", "many"], 2, "--limit must be a whole number from 1"],
    [["audit", "list", "--actor", "ann"], 2, "unknown option"],
    [["audit", "list", "--cursor", "nonsense"], 3, "cursor"],
  ])("%j ends with %i", async (args, code, says) => {
    const result = await posthorn(args);
    expect([result.code, result.out]).toEqual([code, ""]);
    expect(result.err).toContain(says);
  });

  test("a key without the scope gets an error that names the scope", async () => {
    const keyWith = async (scopes: string, ...more: string[]) =>
      (await posthorn(["keys", "create", "x", "--scopes", scopes, ...more, "--json"])).json.key;
    const publisher = await keyWith("events:publish");
    const advice = "Set a key with this permission with --key or POSTHORN_API_KEY.\n";
    for (const [args, scope] of [
      [["stats"], "deliveries:read"],
      [["audit", "list"], "admin"],
    ] as const) {
      const refused = await posthorn([...args, "--key", publisher]);
      expect(refused).toMatchObject({ code: 3, out: "" });
      expect(refused.err).toBe(`This needs the scope ${scope}, which the key lacks. ${advice}`);
    }
    await posthorn(["tenants", "put", "own"]);
    const own = await keyWith("admin", "--tenant", "own");
    const other = await posthorn(["audit", "list", "--tenant", "long", "--key", own]);
    expect([other.code, other.err]).toEqual([
      3,
      `The key belongs to one tenant, and this request is for another. ${advice}`,
    ]);
    const mine = await posthorn(["audit", "list", "--key", own]);
    expect(mine.out).toMatch(/operator +own +keys\.create +200/);
    expect(mine.out).not.toContain("admin key");
  });
});
