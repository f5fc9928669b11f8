// The commands for events and deliveries against a real server, as text and as JSON, and errors that all commands share.
import { describe, expect, test } from "vitest";
import { argv, useCommandServer } from "../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import { adminKey } from "../../../../tests/support/servers/start-server.ts";

const { server, posthorn, makeEndpoint, deliveryOf } = useCommandServer();
const eventIn = (text: string): string => /evt_[^\s.]+/.exec(text)?.[0] ?? "";

describe("publish", () => {
  test("prints the result, and with --json the response of the API", async () => {
    await makeEndpoint("publishing", (await startReceiver()).url);
    expect(await posthorn`publish order.paid --tenant publishing --data {"id":1}`).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringMatching(
        /^Published evt_\S+\. 1 delivery created\.\nFollow it with: posthorn trace evt_/,
      ),
    });
    const { json } = await posthorn`publish order.paid --tenant publishing --json`;
    const id = expect.stringMatching(/^evt_/);
    expect(json).toEqual({ id, sequence: null, duplicate: false, deliveries: 1 });
  });

  test("explains on standard error why no endpoint matches", async () => {
    const publish = (...more: string[]) => posthorn`publish order.paid --tenant unheard ${more}`;
    expect(await publish()).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Published evt_\S+\. No endpoint matches\.\n$/),
      err: "There is no tenant unheard. Check its id, or create it: posthorn tenants put unheard\n",
    });
    await posthorn`tenants put unheard`;
    expect((await publish()).err).toMatch(/^unheard has no endpoints\. List them with: posthorn endpoints /);
    const id = await makeEndpoint("unheard", "https://hooks.example/in");
    await posthorn`endpoints update ${id} --tenant unheard --events invoice.*`;
    const { out, err } = await publish();
    expect(err).toMatch(/^No endpoint of unheard received it:\nnot sent to ep_\S+: .+\n$/);
    expect((await posthorn`events get ${eventIn(out)}`).out).toMatch(/\nnot sent to ep_\S+: .+\n$/);
    expect((await posthorn`trace ${eventIn(out)}`).out).toContain(err.split(": ")[0]);
    expect(await publish("--json")).toMatchObject({ code: 0, err: "", json: { deliveries: 0 } });
    const { key } = (await posthorn`keys create ci --scopes events:publish --json`).json;
    const unexplained = expect.stringContaining("use a key with deliveries:read");
    expect(await publish("--key", key)).toMatchObject({ code: 0, err: unexplained });
  });

  test("reads data from standard input and sends its bytes unchanged", async () => {
    const data = '{"price":1.0,"big":12345678901234567890}';
    const { json } = await posthorn({ stdin: data })`publish order.paid --tenant bytes --data - --json`;
    expect((await server.call("GET", `/api/v1/events/${json.id}`)).text).toContain(`"data":${data}`);
    for (const more of [[], ["--json"]])
      expect((await posthorn`events get ${json.id} ${more}`).out).toContain(data);
  });

  test("with an idempotency key publishes once, and with a subject numbers it", async () => {
    const args = argv`publish a.b --tenant once --idempotency-key k --subject s --api-version 2`;
    const first = await posthorn`${args} --json`;
    expect(first.json).toMatchObject({ sequence: 1, duplicate: false });
    expect((await posthorn`${args}`).out).toContain("was already published");
    const { out } = await posthorn`events get ${first.json.id}`;
    expect(out).toMatch(/api version {2}2\nsubject {6}s \(sequence 1\)/);
  });

  test("for a user publishes an event in each tenant of the user", async () => {
    for (const tenant of ["north", "south"]) {
      await makeEndpoint(tenant, (await startReceiver()).url);
      await posthorn`members put anna --tenant ${tenant} --role member`;
    }
    const { code, out } = await posthorn`publish user.invited --user anna`;
    expect(code).toBe(0);
    expect(out).toMatch(
      /^north: Published evt_\S+ Its deliveries are being created\.\nFollow .*\nsouth: Published evt_/,
    );
    const { json } = await posthorn`publish user.invited --user anna --json`;
    expect(json).toMatchObject({ user: "anna", events: [{ tenant: "north" }, { tenant: "south" }] });
    const nobody = await posthorn`publish user.invited --user zoe`;
    expect(nobody.out).toContain("Nothing was published: zoe is not a member of an active tenant.");
  });
});

describe("events and deliveries", () => {
  test("are listed, filtered, and shown with their attempts and with advice", async () => {
    const { url } = await startReceiver({ status: 400, body: "no such order" });
    const endpoint = await makeEndpoint("listing", url);
    const { json: event } = await posthorn`publish order.paid --tenant listing --json`;
    const { id } = await deliveryOf(event.id, "dead");
    const listed = await posthorn`events list --tenant listing --type order.paid --since 10m --json`;
    expect(listed.json).toMatchObject({ data: [{ id: event.id }], next_cursor: null });
    expect((await posthorn`events list --tenant listing`).out).toMatch(/^ID +CREATED .*\nevt_/);
    expect((await posthorn`events list --type no.such`).out).toBe("No events found.\n");
    const filters = argv`--endpoint ${endpoint} --state dead --reason rejected --until 2099-01-01`;
    expect((await posthorn`deliveries list ${filters} --json`).json.data).toMatchObject([{ id }]);
    expect((await posthorn`deliveries list ${filters}`).out).toContain("dead (rejected)");
    const shown = await posthorn`deliveries get ${id}`;
    expect(shown.out).toMatch(/^dead since +20.+ATTEMPT.+RESULT.+no such order/ms);
    expect((await posthorn`deliveries get ${id} --json`).json.attempts).toHaveLength(1);

    const { out } = await posthorn`trace ${event.id}`;
    expect(out).toMatch(/^event {6}evt_/);
    expect(out).toMatch(/dead \(rejected\) {2}http:\/\/127/);
    expect(out).toMatch(/400 +event +– +no such order/);
    expect(out).toContain(
      `→ The receiver rejected it; see the response above. Fix the receiver, then: posthorn retry ${id}`,
    );
    expect(out.split("\n").length).toBeLessThan(24);
    const deliveries = [{ id, attempts: [{ status_code: 400 }], endpoint: {} }];
    expect((await posthorn`trace ${event.id} --json`).json).toMatchObject({ id: event.id, deliveries });
    expect((await posthorn`deliveries retry ${id} --json`).json).toMatchObject({ id });
  });

  test("lists are read page by page, and remaining items are reported", async () => {
    await server.hooks.publishMany(
      Array.from({ length: 260 }, () => ({ tenant: "many", type: "a.b", data: null })),
    );
    const all = await posthorn`events list --tenant many --limit 300 --json`;
    expect([all.json.data.length, all.json.next_cursor]).toEqual([260, null]);
    const some = await posthorn`events list --tenant many --limit 255`;
    expect(some.err).toMatch(/^There are more: use --limit 510 or --cursor \S+\n$/);
    const [, cursor = ""] = /--cursor (\S+)/.exec(some.err) ?? [];
    const rest = await posthorn`events list --tenant many --cursor ${cursor} --json`;
    expect(rest.json.data).toHaveLength(5);
  });

  test("a delivery held by an open circuit shows the time of the next probe", async () => {
    const endpoint = await makeEndpoint("circuit", (await startReceiver(500)).url);
    const { hooks } = server;
    await hooks.endpoints.update("circuit", endpoint, { circuitBreaker: { pauseMs: 300_000 } });
    const publish = () => hooks.publish({ tenant: "circuit", type: "order.paid", data: 1 });
    await Promise.all(Array.from({ length: 10 }, publish));
    await expect.poll(async () => (await hooks.endpoints.get("circuit", endpoint)).circuit).toBe("open");
    const { out, err } = await posthorn`publish order.paid --tenant circuit`;
    expect(out).toContain("1 delivery created.");
    expect(err).toMatch(/^dlv_\S+ to ep_\S+ held: circuit open, next probe in \d+ (s|min)\.\n$/);
    const { id } = await deliveryOf(eventIn(out), "pending");
    for (const args of [
      argv`deliveries get ${id}`,
      argv`trace ${eventIn(out)}`,
      argv`deliveries list --tenant circuit --state pending`,
    ])
      expect((await posthorn`${args}`).out).toMatch(/pending, held: circuit open, next probe in \d+ (s|min)/);
    const retried = await posthorn`retry ${id}`;
    // how far it is when its state is read depends on the worker
    expect(retried.out).toMatch(
      / is due now and will be sent by | will be sent as the endpoint's next probe| is being sent| was sent: failed/,
    );
    await deliveryOf(eventIn(out), "failed");
  });

  test("a retry of a parked delivery says what it still waits for", async () => {
    const endpoint = await makeEndpoint("parked", (await startReceiver(500)).url);
    const { hooks } = server;
    await hooks.endpoints.update("parked", endpoint, { ordering: "fifo", retryPolicy: "1h" });
    const publish = () => hooks.publish({ tenant: "parked", type: "order.paid", subject: "a", data: 1 });
    const [first, second] = [await publish(), await publish()];
    const { id: earlier } = await deliveryOf(first.id, "failed");
    const { id } = await deliveryOf(second.id, "pending");
    const { out } = await posthorn`retry ${id}`;
    expect(out).toContain(`${id} will be retried; held: an earlier delivery of its subject is not finished.`);
    expect((await posthorn`trace ${second.id}`).out).toContain(`→ ${earlier} of the same subject has to end`);
  });

  test("of a CloudEvent show its attributes, and that its data is not JSON", async () => {
    const headers = {
      "content-type": "application/xml",
      "ce-specversion": "1.0",
      "ce-id": "7",
      "ce-source": "/shop",
      "ce-type": "com.Example.Order-Paid",
      "ce-region": "eu",
    };
    await server.call("POST", "/api/v1/events?tenant=cloud", "<order/>", headers);
    const [{ id }] = (await posthorn`events list --tenant cloud --json`).json.data;
    for (const args of [argv`trace ${id}`, argv`events get ${id}`]) {
      const { out } = await posthorn`${args}`;
      for (const line of [
        /^ce-id +7$/m,
        /^ce-source +\/shop$/m,
        /^ce-type +com\.Example\.Order-Paid$/m,
        /^ce-datacontenttype +application\/xml$/m,
        /^ce-region +eu$/m,
        /^data is +bytes, in base64$/m,
      ])
        expect(out).toMatch(line);
    }
  });

  test("control characters are removed from payloads, names and responses", async () => {
    const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil";
    await makeEndpoint("steering", (await startReceiver({ status: 400, body: hostile })).url);
    await posthorn`tenants put steering --name ${"\u202eevil\u009b2J"}`;
    const data = JSON.stringify({ [hostile]: hostile });
    const { id } = (await posthorn`publish order.paid --tenant steering --data ${data} --json`).json;
    await deliveryOf(id, "dead");
    for (const args of [
      argv`trace ${id}`,
      argv`events get ${id}`,
      argv`events list --tenant steering`,
      argv`tenants get steering`,
    ]) {
      for (const more of [[], ["--json"]]) {
        const { out, code } = await posthorn`${args} ${more}`;
        expect(code).toBe(0);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
        if (more.length > 0) expect(JSON.stringify(JSON.parse(out))).toContain("\u202eevil");
      }
    }
  });
});

test("api calls any operation with path parameters, query parameters and a body", async () => {
  await posthorn`tenants put any`;
  expect((await posthorn`api tenants.get tenant=any`).json.id).toBe("any");
  expect((await posthorn`api events.list tenant=any limit=1`).json.data).toEqual([]);
  expect((await posthorn`api tenants.put tenant=any --data {"name":"Any"}`).json.name).toBe("Any");
});

describe("errors", () => {
  test("a wrong key is rejected with advice", async () => {
    const err = expect.stringContaining("Set a key with --key or POSTHORN_API_KEY.");
    expect(await posthorn`events list --key phk_wrong`).toMatchObject({ code: 3, out: "", err });
  });

  test("--url, --key and --json may precede the command", async () => {
    const args = argv`--url ${server.url} --key ${adminKey} --json`;
    const env = { POSTHORN_URL: "http://127.0.0.1:1", POSTHORN_API_KEY: "phk_wrong" };
    expect((await posthorn({ env })`${args} tenants list`).json).toHaveProperty("data");
    expect((await posthorn({ env })`${args} api tenants.list`).json).toHaveProperty("data");
    expect((await posthorn`--url http://127.0.0.1:1 tenants list --url ${server.url}`).code).toBe(0);
  });

  test("the local admin key is used only for a local server", async () => {
    const env = { POSTHORN_API_KEY: "", POSTHORN_ADMIN_KEY: adminKey, POSTHORN_DATA_DIR: "/nowhere" };
    expect((await posthorn({ env })`events list`).code).toBe(0);
    const away = await posthorn({ env })`events list --url https://hooks.invalid`;
    expect(away).toMatchObject({ code: 2, err: expect.stringContaining("No key is set.") });
  });

  test("an empty list mentions a tenant that does not exist", async () => {
    await posthorn`tenants put empty`;
    for (const what of ["events", "deliveries"]) {
      expect((await posthorn`${what} list --tenant emptyy`).out).toBe(
        `No ${what} found. There is no tenant emptyy. Check its id, or create it: posthorn tenants put emptyy\n`,
      );
      expect((await posthorn`${what} list --tenant empty`).out).toBe(`No ${what} found.\n`);
      const { json } = await posthorn`${what} list --tenant emptyy --json`;
      expect(json).toEqual({ data: [], next_cursor: null });
    }
  });

  test("trace of something other than an event id suggests a search by subject", async () => {
    const hint = "posthorn events list --subject inv-1";
    expect(await posthorn`trace inv-1`).toMatchObject({ code: 2, err: expect.stringContaining(hint) });
    const unknown = await posthorn`trace evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10`;
    expect(unknown).toMatchObject({ code: 3, err: expect.not.stringContaining("--subject") });
  });
});
