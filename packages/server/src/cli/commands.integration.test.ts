// The commands about events and deliveries against a real server, in words and in JSON, and what goes wrong with any.
import { describe, expect, test } from "vitest";
import { receiver, useCommandServer } from "../../../../tests/support/command-server.ts";
import { runCommand } from "../../../../tests/support/run-command.ts";
import { adminKey } from "../../../../tests/support/start-server.ts";

const { server, posthorn, makeEndpoint, deliveryOf } = useCommandServer();

describe("publish", () => {
  test("prints the result, and with --json the response of the API", async () => {
    await makeEndpoint("publishing", await receiver(200));
    const words = await posthorn(["publish", "order.paid", "--tenant", "publishing", "--data", '{"id":1}']);
    expect(words).toMatchObject({ code: 0, err: "" });
    expect(words.out).toMatch(
      /^Published evt_\S+\. 1 delivery created\.\nFollow it with: posthorn trace evt_/,
    );
    const { json } = await posthorn(["publish", "order.paid", "--tenant", "publishing", "--json"]);
    expect(json).toEqual({
      id: expect.stringMatching(/^evt_/),
      sequence: null,
      duplicate: false,
      deliveries: 1,
    });
  });

  test("explains on standard error why no endpoint matches", async () => {
    const publish = (...more: string[]) =>
      posthorn(["publish", "order.paid", "--tenant", "unheard", ...more]);
    const unknown = await publish();
    expect(unknown.out).toMatch(/^Published evt_\S+\. No endpoint matches\.\n$/);
    expect([unknown.code, unknown.err]).toEqual([
      0,
      "There is no tenant unheard. Check its id, or create it: posthorn tenants put unheard\n",
    ]);
    await posthorn(["tenants", "put", "unheard"]);
    expect((await publish()).err).toMatch(/^unheard has no endpoints\. List them with: posthorn endpoints /);
    const id = await makeEndpoint("unheard", "https://hooks.example/in");
    await posthorn(["endpoints", "update", id, "--tenant", "unheard", "--events", "invoice.*"]);
    const unwanted = await publish();
    expect(unwanted.err).toMatch(/^No endpoint of unheard matched:\nnot sent to ep_\S+: .+\n$/);
    const [, event = ""] = /(evt_[^\s.]+)/.exec(unwanted.out) ?? [];
    expect((await posthorn(["events", "get", event])).out).toMatch(/\nnot sent to ep_\S+: .+\n$/);
    expect(await publish("--json")).toMatchObject({ code: 0, err: "", json: { deliveries: 0 } });
    const { key } = (await posthorn(["keys", "create", "ci", "--scopes", "events:publish", "--json"])).json;
    const blind = await publish("--key", key);
    expect([blind.code, blind.err]).toEqual([0, expect.stringContaining("use a key with deliveries:read")]);
  });

  test("reads data from standard input and sends its bytes unchanged", async () => {
    const data = '{"price":1.0,"big":12345678901234567890}';
    const { json } = await posthorn(["publish", "order.paid", "--tenant", "bytes", "--data", "-", "--json"], {
      stdin: data,
    });
    expect((await server().call("GET", `/api/v1/events/${json.id}`)).text).toContain(`"data":${data}`);
    for (const more of [[], ["--json"]]) {
      expect((await posthorn(["events", "get", json.id, ...more])).out).toContain(data);
    }
  });

  test("with an idempotency key publishes once, and with a subject numbers it", async () => {
    const args = [
      "publish",
      "a.b",
      "--tenant",
      "once",
      "--idempotency-key",
      "k",
      "--subject",
      "s",
      "--api-version",
      "2",
    ];
    const first = await posthorn([...args, "--json"]);
    expect(first.json).toMatchObject({ sequence: 1, duplicate: false });
    expect((await posthorn(args)).out).toContain("was already published");
    expect((await posthorn(["events", "get", first.json.id])).out).toMatch(
      /api version {2}2\nsubject {6}s \(sequence 1\)/,
    );
  });

  test.each([
    ["is no JSON", ["--data", "{"], "--data is not JSON"],
    [
      "is in a file that is not there",
      ["--data", "@/nowhere/x.json"],
      "/nowhere/x.json, which cannot be read (ENOENT)",
    ],
  ])("data that %s is a usage error", async (_what, args, says) => {
    const result = await posthorn(["publish", "a.b", "--tenant", "t", ...args]);
    expect(result).toMatchObject({ code: 2, out: "" });
    expect(result.err).toContain(says);
  });
});

describe("events and deliveries", () => {
  test("are listed, filtered, and shown with their attempts", async () => {
    const endpoint = await makeEndpoint("listing", await receiver(400, "no such order"));
    const { json: event } = await posthorn(["publish", "order.paid", "--tenant", "listing", "--json"]);
    const { id } = await deliveryOf(event.id, "dead");
    const listed = await posthorn([
      "events",
      "list",
      "--tenant",
      "listing",
      "--type",
      "order.paid",
      "--since",
      "10m",
      "--json",
    ]);
    expect(listed.json).toMatchObject({ data: [{ id: event.id }], next_cursor: null });
    expect((await posthorn(["events", "list", "--tenant", "listing"])).out).toMatch(/^ID +CREATED .*\nevt_/);
    expect((await posthorn(["events", "list", "--type", "no.such"])).out).toBe("No events found.\n");
    const filters = [
      "--endpoint",
      endpoint,
      "--state",
      "dead",
      "--reason",
      "rejected",
      "--until",
      "2099-01-01",
    ];
    expect((await posthorn(["deliveries", "list", ...filters, "--json"])).json.data).toMatchObject([{ id }]);
    expect((await posthorn(["deliveries", "list", ...filters])).out).toContain("dead (rejected)");
    const shown = await posthorn(["deliveries", "get", id]);
    expect(shown.out).toMatch(/ATTEMPT.*RESULT/);
    expect(shown.out).toContain("no such order");
    expect((await posthorn(["deliveries", "get", id, "--json"])).json.attempts).toHaveLength(1);
  });

  test("lists are read page by page, and remaining items are reported", async () => {
    await server().hooks.publishMany(
      Array.from({ length: 260 }, () => ({ tenant: "many", type: "a.b", data: null })),
    );
    const all = await posthorn(["events", "list", "--tenant", "many", "--limit", "300", "--json"]);
    expect([all.json.data.length, all.json.next_cursor]).toEqual([260, null]);
    const some = await posthorn(["events", "list", "--tenant", "many", "--limit", "255"]);
    expect(some.err).toMatch(/^There are more: use --limit 510 or --cursor \S+\n$/);
    const [, cursor = ""] = /--cursor (\S+)/.exec(some.err) ?? [];
    const rest = await posthorn(["events", "list", "--tenant", "many", "--cursor", cursor, "--json"]);
    expect(rest.json.data).toHaveLength(5);
  });

  test("a delivery held by an open circuit shows the time of the next probe", async () => {
    const endpoint = await makeEndpoint("circuit", await receiver(500));
    const { hooks } = server();
    const publish = () => hooks.publish({ tenant: "circuit", type: "order.paid", data: 1 });
    await Promise.all(Array.from({ length: 10 }, publish));
    await expect
      .poll(async () => (await hooks.endpoints.get("circuit", endpoint)).circuit, { timeout: 20_000 })
      .toBe("open");
    const waits = /pending, held: circuit open, next probe in \d+ s/;
    const published = await posthorn(["publish", "order.paid", "--tenant", "circuit"]);
    expect(published.out).toContain("1 delivery created.");
    expect(published.err).toMatch(/^dlv_\S+ to ep_\S+ held: circuit open, next probe in \d+ s\.\n$/);
    const [, event = ""] = /(evt_[^\s.]+)/.exec(published.out) ?? [];
    const { id } = await deliveryOf(event, "pending");
    expect((await posthorn(["deliveries", "get", id])).out).toMatch(waits);
    expect((await posthorn(["trace", event])).out).toMatch(waits);
    expect((await posthorn(["deliveries", "list", "--state", "pending"])).out).toMatch(waits);
    expect((await posthorn(["retry", id])).out).toContain(
      `${id} is due now and will be sent by the next free worker.`,
    );
    await deliveryOf(event, "failed");
  });

  test("a delivery to a disabled endpoint is shown as held", async () => {
    const endpoint = await makeEndpoint("resting", "https://hooks.example/in");
    await posthorn(["endpoints", "disable", endpoint, "--tenant", "resting"]);
    const { err, out } = await posthorn(["publish", "order.paid", "--tenant", "resting"]);
    expect(err).toMatch(/^dlv_\S+ to ep_\S+ held: the endpoint is disabled\.\n$/);
    const [, event = ""] = /(evt_[^\s.]+)/.exec(out) ?? [];
    expect((await posthorn(["trace", event])).out).toContain("was disabled manually");
  });

  test("retry works under both its names", async () => {
    await makeEndpoint("retrying", await receiver(400));
    const { json: event } = await posthorn(["publish", "order.paid", "--tenant", "retrying", "--json"]);
    const { id } = await deliveryOf(event.id, "dead");
    expect((await posthorn(["retry", id])).out).toContain(
      `${id} is due now and will be sent by the next free worker.`,
    );
    await expect
      .poll(async () => (await posthorn(["deliveries", "get", id, "--json"])).json.attempts.length, {
        timeout: 20_000,
      })
      .toBe(2);
    expect((await posthorn(["deliveries", "retry", id, "--json"])).json).toMatchObject({ id });
  });
});

describe("trace", () => {
  test("shows event, deliveries and attempts on one screen, with advice", async () => {
    await makeEndpoint("tracing", await receiver(400, "order unknown"));
    const { json: event } = await posthorn(["publish", "order.paid", "--tenant", "tracing", "--json"]);
    const { id } = await deliveryOf(event.id, "dead");
    const { out } = await posthorn(["trace", event.id]);
    expect(out).toMatch(/^event {6}evt_/);
    expect(out).toMatch(/dead \(rejected\) {2}http:\/\/127/);
    expect(out).toMatch(/400 +event +– +order unknown/);
    expect(out).toContain(
      `→ The receiver rejected it; see the response above. Fix the receiver, then: posthorn retry ${id}`,
    );
    expect(out.split("\n").length).toBeLessThan(24);
    const { json } = await posthorn(["trace", event.id, "--json"]);
    expect(json).toMatchObject({
      id: event.id,
      deliveries: [{ id, attempts: [{ status_code: 400 }], endpoint: {} }],
    });
  });

  test("explains why an event has no deliveries", async () => {
    const publish = ["publish", "order.paid", "--tenant", "lonely", "--data", "{}", "--json"];
    await posthorn(["tenants", "put", "lonely"]);
    const { json } = await posthorn(publish);
    expect((await posthorn(["trace", json.id])).out).toContain(
      "It has no deliveries. lonely has no endpoints.",
    );
    const id = await makeEndpoint("lonely", "https://hooks.example/in");
    const filter = JSON.stringify({ filter: { data: { amount: { $gte: 5 } } } });
    await posthorn(["endpoints", "update", id, "--tenant", "lonely", "--data", filter]);
    const { out } = await posthorn(["trace", (await posthorn(publish)).json.id]);
    expect(out).toContain("No endpoint of lonely matched:");
    expect(out).toContain(
      `not sent to ${id}: The condition at /data/amount/$gte of its filter does not hold.`,
    );
  });

  test("shows the attributes of a CloudEvent, and that its data is not JSON", async () => {
    await fetch(`${server().url}/api/v1/events?tenant=cloud`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${adminKey}`,
        "content-type": "application/xml",
        "ce-specversion": "1.0",
        "ce-id": "7",
        "ce-source": "/shop",
        "ce-type": "com.Example.Order-Paid",
        "ce-region": "eu",
      },
      body: "<order/>",
    });
    const { json } = await posthorn(["events", "list", "--tenant", "cloud", "--json"]);
    const [{ id }] = json.data;
    for (const command of [
      ["trace", id],
      ["events", "get", id],
    ]) {
      const { out } = await posthorn(command);
      expect(out).toMatch(/^ce-id +7$/m);
      expect(out).toMatch(/^ce-source +\/shop$/m);
      expect(out).toMatch(/^ce-type +com\.Example\.Order-Paid$/m);
      expect(out).toMatch(/^ce-datacontenttype +application\/xml$/m);
      expect(out).toMatch(/^ce-region +eu$/m);
      expect(out).toMatch(/^data is +bytes, in base64$/m);
    }
  });

  test("removes control characters from payloads, names and responses", async () => {
    const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil";
    await makeEndpoint("steering", await receiver(400, hostile));
    await posthorn(["tenants", "put", "steering", "--name", "\u202eevil\u009b2J"]);
    const data = JSON.stringify({ [hostile]: hostile });
    const publish = ["publish", "order.paid", "--tenant", "steering", "--data", data, "--json"];
    const { id } = (await posthorn(publish)).json;
    await deliveryOf(id, "dead");
    const commands = [
      ["trace", id],
      ["events", "get", id],
      ["events", "list", "--tenant", "steering"],
      ["tenants", "get", "steering"],
    ];
    for (const args of commands) {
      for (const more of [[], ["--json"]]) {
        const { out, code } = await posthorn([...args, ...more]);
        expect(code).toBe(0);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
        if (more.length > 0) expect(JSON.stringify(JSON.parse(out))).toContain("\u202eevil");
      }
    }
  });
});

describe("api", () => {
  test("calls any operation with path parameters, query parameters and a body", async () => {
    await posthorn(["tenants", "put", "any"]);
    expect((await posthorn(["api", "tenants.get", "tenant=any"])).json.id).toBe("any");
    expect((await posthorn(["api", "events.list", "tenant=any", "limit=1"])).json.data).toEqual([]);
    const put = await posthorn(["api", "tenants.put", "tenant=any", "--data", '{"name":"Any"}']);
    expect(put.json.name).toBe("Any");
    expect((await posthorn(["api"])).out).toMatch(/endpoints\.rotateSecret +POST/);
  });

  test.each([
    [["api", "tenants.gett"], 'There is no operation "tenants.gett". Did you mean tenants.get'],
    [["api", "tenants.get"], "/api/v1/tenants/{tenant} needs tenant=…"],
    [["api", "tenants.get", "any"], '"any" is not a parameter'],
  ])("%j is a usage error", async (args, says) => {
    const result = await posthorn(args);
    expect(result.code).toBe(2);
    expect(result.err).toContain(says);
  });
});

describe("what goes wrong", () => {
  test("a wrong key is rejected with advice", async () => {
    const result = await posthorn(["events", "list", "--key", "phk_wrong"]);
    expect(result).toMatchObject({ code: 3, out: "" });
    expect(result.err).toContain("Set a key with --key or POSTHORN_API_KEY.");
  });

  test("an unreachable server gives exit code 4, also with --json", async () => {
    const env = { POSTHORN_URL: "http://127.0.0.1:1" };
    const words = await posthorn(["events", "list"], { env });
    expect(words).toMatchObject({ code: 4, out: "" });
    expect(words.err).toMatch(
      /^The server at http:\/\/127\.0\.0\.1:1 cannot be reached \(.+\)\. Check that it is running/,
    );
    const json = await posthorn(["events", "list", "--json"], { env });
    expect(JSON.parse(json.err)).toEqual({ error: { code: "unreachable", message: words.err.trim() } });
  });

  test("--url, --key and --json may precede the command", async () => {
    const args = ["--url", server().url, "--key", adminKey, "--json"];
    const env = { POSTHORN_URL: "http://127.0.0.1:1", POSTHORN_API_KEY: "phk_wrong" };
    expect((await posthorn([...args, "tenants", "list"], { env })).json).toHaveProperty("data");
    expect((await posthorn([...args, "api", "tenants.list"], { env })).json).toHaveProperty("data");
    const wrong = ["--url", "http://127.0.0.1:1", "tenants", "list", "--url", server().url];
    expect((await posthorn(wrong)).code).toBe(0);
  });

  test("a rejected request shows the invalid fields, and with --json the code", async () => {
    const bad = ["endpoints", "create", "ftp://x", "--tenant", "asking2"];
    await posthorn(["tenants", "put", "asking2"]);
    const words = await posthorn(bad);
    expect(words.code).toBe(3);
    expect(words.err).toMatch(/^The endpoint cannot be created\. \/url: .+\n$/);
    const twice = await posthorn([...bad, "--data", '{"timeout_ms":-1}']);
    expect(twice.err).toMatch(/\n {2}\/url: .+\n {2}\/timeout_ms: /);
    expect(JSON.parse((await posthorn([...bad, "--json"])).err).error.code).toBe("invalid_endpoint");
  });

  test.each<[args: string[], says: string]>([
    [["nonsense"], "unknown command"],
    [["events", "list", "--nonsense"], "unknown option"],
    [["events", "get"], "missing required argument"],
    [["publish", "a.b"], "--tenant"],
    [["events", "list", "--since", "yesterday"], "--since must be a time such as"],
    [["events", "list", "--limit", "0"], "--limit must be a whole number from 1"],
    [["events", "list", "--url", "nowhere"], "--url must be a URL"],
    [["events", "list", "--key", "a b"], "The key has invalid characters"],
    [["deliveries", "list", "--state", "lost"], "Allowed choices are"],
  ])("%j is a usage error", async (args, says) => {
    const result = await posthorn(args);
    expect([result.code, result.out]).toEqual([2, ""]);
    expect(result.err).toContain(says);
  });

  test("the local admin key is used only for a local server", async () => {
    const local = await runCommand(["events", "list"], {
      env: { POSTHORN_URL: server().url, POSTHORN_ADMIN_KEY: adminKey },
    });
    expect(local.code).toBe(0);
    const away = await runCommand(["events", "list"], {
      env: {
        POSTHORN_URL: "https://hooks.invalid",
        POSTHORN_ADMIN_KEY: adminKey,
        POSTHORN_DATA_DIR: "/nowhere",
      },
    });
    expect([away.code, away.err]).toEqual([2, expect.stringContaining("No key is set.")]);
  });
});

describe("what is not found", () => {
  test("an empty list mentions a tenant that does not exist", async () => {
    await posthorn(["tenants", "put", "empty"]);
    for (const what of ["events", "deliveries"]) {
      const list = (tenant: string, ...more: string[]) =>
        posthorn([what, "list", "--tenant", tenant, ...more]);
      expect((await list("emptyy")).out).toBe(
        `No ${what} found. There is no tenant emptyy. Check its id, or create it: posthorn tenants put emptyy\n`,
      );
      expect((await list("empty")).out).toBe(`No ${what} found.\n`);
      expect((await list("emptyy", "--json")).json).toEqual({ data: [], next_cursor: null });
    }
  });

  test("trace of something other than an event id suggests a search by subject", async () => {
    const { code, err } = await posthorn(["trace", "inv-1"]);
    expect([code, err]).toEqual([2, expect.stringContaining("posthorn events list --subject inv-1")]);
    const unknown = await posthorn(["trace", "evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10"]);
    expect([unknown.code, unknown.err]).toEqual([3, expect.not.stringContaining("--subject")]);
  });
});

describe("publish for a user", () => {
  test("publishes an event in each tenant of the user", async () => {
    for (const tenant of ["north", "south"]) {
      await makeEndpoint(tenant, await receiver(200));
      await posthorn(["members", "put", "anna", "--tenant", tenant, "--role", "member"]);
    }
    const { code, out } = await posthorn(["publish", "user.invited", "--user", "anna"]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^north: Published evt_\S+ Its deliveries are being created\.\nFollow .*\nsouth: Published evt_/,
      ),
    ]);
    const { json } = await posthorn(["publish", "user.invited", "--user", "anna", "--json"]);
    expect(json).toMatchObject({ user: "anna", events: [{ tenant: "north" }, { tenant: "south" }] });
    const nobody = await posthorn(["publish", "user.invited", "--user", "zoe"]);
    expect(nobody.out).toContain("Nothing was published: zoe is not a member of an active tenant.");
  });

  test("accepts either a tenant or a user", async () => {
    expect(await posthorn(["publish", "a.b"])).toMatchObject({ code: 2 });
    expect(await posthorn(["publish", "a.b", "--tenant", "a", "--user", "b"])).toMatchObject({ code: 2 });
    expect(await posthorn(["publish", "a.b", "--user", ""])).toMatchObject({ code: 2 });
  });
});
