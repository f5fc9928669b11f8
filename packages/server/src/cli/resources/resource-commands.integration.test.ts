// The commands for endpoints, tenants, members and keys against a real server, as text and as JSON.
import type { Endpoint } from "@posthorn/client";
import { describe, expect, test } from "vitest";
import {
  argv,
  type CommandResult,
  useCommandServer,
} from "../../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";

const { server, posthorn, makeEndpoint } = useCommandServer({
  resolve: async (name) => {
    if (name === "missing.example.com") throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return [{ address: name === "private.example.com" ? "10.0.0.7" : "93.184.215.14", family: 4 }];
  },
});

describe("events", () => {
  test("are sent to one endpoint with edited data", async () => {
    await posthorn`tenants put edits`;
    const receiver = await startReceiver();
    const { json: endpoint } = await posthorn`endpoints create ${receiver.url} --tenant edits --json`;
    const { json: event } = await posthorn`publish order.paid --tenant edits --data {"id":1} --json`;
    await receiver.received(1);
    const of = argv`events resend-edited ${event.id} --endpoint ${endpoint.id}`;
    const sent = await posthorn`${of} --data {"id":12345678901234567890}`;
    const [, copy] = await receiver.received(2);
    expect(String(copy?.body)).toContain('"data":{"id":12345678901234567890}}');
    const id = copy?.headers["x-webhook-id"] as string;
    expect(sent.out).toBe(`Sent ${id}.\nShow the result with: posthorn trace ${id}\n`);
    expect((await posthorn`events get ${id}`).out).toMatch(new RegExp(`edited from +${event.id}`));
    expect((await posthorn`${of} --data {`).err).toContain("--data is not JSON");
    expect((await posthorn`events resend-edited ${event.id} --data 1`).err).toContain("--endpoint");
  });
});

describe("endpoints", () => {
  test("are created, shown, changed, disabled, enabled, tested, rotated and deleted", async () => {
    await posthorn`tenants put endpoints`;
    const of = argv`--tenant endpoints`;
    const url = (await startReceiver()).url;
    const given = argv`--events ${"order.*, a.b"} --description shop --data {"timeout_ms":5000}`;
    const { json: made } = await posthorn`endpoints create ${url} ${of} ${given} --json`;
    const secret = expect.stringMatching(/^whsec_/);
    expect(made).toMatchObject({ events: ["order.*", "a.b"], timeout_ms: 5000, secret });
    const { id } = made;
    const { out } = await posthorn`endpoints create ${url} ${of}`;
    expect(out).toMatch(/Secret \(shown only once\): whsec_\S+/);
    expect((await posthorn`endpoints list ${of}`).out).toMatch(/active .*shop/);
    expect((await posthorn`endpoints list ${of} --json`).json.data).toHaveLength(2);
    expect((await posthorn`endpoints get ${id} ${of}`).out).toContain("shop");
    const moved = await posthorn`endpoints update ${id} ${of} --to ${url}/new --json`;
    expect(moved.json.url).toBe(`${url}/new`);
    expect((await posthorn`endpoints disable ${id} ${of}`).out).toContain("disabled (manual)");
    const enabled = await posthorn`endpoints enable ${id} ${of} --backlog discard --json`;
    expect(enabled.json.is_active).toBe(true);
    expect((await posthorn`endpoints test ${id} ${of} --json`).json.delivery_id).toMatch(/^dlv_/);
    const rotated = await posthorn`endpoints rotate-secret ${id} ${of} --overlap-seconds 60`;
    expect(rotated.out).toMatch(/^whsec_\S+\n$/);
    expect(rotated.err).toMatch(/^The previous secret is valid until 20/);
    const revoked = await posthorn`endpoints rotate-secret ${id} ${of} --overlap-seconds 0 --yes`;
    expect(revoked.err).toBe("The previous secret is no longer valid.\n");
    expect((await posthorn`endpoints delete ${id} ${of}`).out).toBe(`${id} is deleted.\n`);
    expect((await posthorn`endpoints get ${id} ${of}`).code).toBe(3);
  });

  test("are found by name if only one has it", async () => {
    await posthorn`tenants put called`;
    await posthorn`tenants put called-too`;
    const url = (await startReceiver()).url;
    const create = (name: string, tenant: string) =>
      posthorn`endpoints create ${url} --name ${name} --tenant ${tenant} --json`;
    const { id } = (await create("Billing hook", "called")).json;
    const { id: other } = (await create("Billing hook", "called-too")).json;
    await create("Billing hook 2", "called");
    const of = argv`--tenant called`;
    expect((await posthorn`endpoints list ${of}`).out).toMatch(/NAME[\s\S]*Billing hook/);
    expect((await posthorn`endpoints list ${of} --search ${"hook 2"} --json`).json.data).toHaveLength(1);
    expect((await posthorn`endpoints get ${"Billing hook"} ${of} --json`).json.id).toBe(id);
    await posthorn`endpoints update ${"Billing hook"} ${of} --name Invoices`;
    await posthorn`endpoints test Invoices ${of}`;
    const listed = await posthorn`deliveries list --endpoint Invoices --json`;
    expect(listed.json.data).toMatchObject([
      { endpoint_id: id, endpoint_name: "Invoices", endpoint_url: `${url}/` },
    ]);
    expect(await posthorn`endpoints get ${"Billing hook"} ${of}`).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        'No endpoint of tenant called is named "Billing hook". List their names with: posthorn endpoints list --tenant called',
      ),
    });
    const { id: second } = (await create("Billing hook", "called")).json;
    const several = await posthorn`deliveries list --endpoint ${"Billing hook"}`;
    expect(several.code).toBe(2);
    expect(several.err).toContain('2 endpoints are named "Billing hook": ');
    for (const one of [other, second]) expect(several.err).toContain(one);
    expect(several.err).toContain("Use an id.");
  });

  test("with a host name that does not resolve are created with a warning, and refused for a blocked one", async () => {
    await posthorn`tenants put names`;
    const create = argv`endpoints create https://missing.example.com/in --tenant names`;
    const made = await posthorn`${create}`;
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining("missing.example.com") });
    expect(made.err).toMatch(
      /^Warning: The host name "missing.example.com" could not be resolved \(ENOTFOUND\)/,
    );
    const { json } = await posthorn`${create} --json`;
    expect(json.warnings).toMatchObject([{ code: "host_not_resolved", pointer: "/url" }]);
    const moved =
      await posthorn`endpoints update ${json.id} --to https://missing.example.com/b --tenant names`;
    expect(moved.err).toContain("Warning: ");
    const data = JSON.stringify([{ url: "https://missing.example.com/c", events: ["*"] }]);
    expect((await posthorn`endpoints import --tenant names --data ${data}`).err).toContain("Warning: ");
    const refused = await posthorn`endpoints create https://private.example.com/in --tenant names`;
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining("This address is not allowed") });
  });

  test("with a key pair print the URL of the public key, and a warning about the private key", async () => {
    await posthorn`tenants put pairs`;
    const create = argv`endpoints create https://a.example/in --tenant pairs`;
    const made = await posthorn`${create} --scheme standard-webhooks-v1a`;
    const [, path = ""] = /^public keys +(\S+)$/m.exec(made.out) ?? [];
    expect(path).toMatch(/^\/\.well-known\/webhook-keys\/ep_/);
    expect(made.err).toContain(`keep it secret. Receivers verify with the public key at ${path} of`);
    expect((await fetch(server.url + path)).status).toBe(200);
    const id = path.split("/").at(-1) ?? "";
    const rotated = await posthorn`endpoints rotate-secret ${id} --tenant pairs`;
    expect(rotated.err).toContain("keep it secret");
    const shared = await posthorn`${create}`;
    expect(shared).toMatchObject({ err: "", out: expect.not.stringContaining("public keys") });
  });

  test("can be tested with a custom event, and the attempt shows the phases", async () => {
    const id = await makeEndpoint("tried", (await startReceiver()).url);
    const args = argv`endpoints test ${id} --tenant tried --type invoice.paid --data {"total":7} --json`;
    const { event_id, delivery_id } = (await posthorn`${args}`).json;
    const { json: event } = await posthorn`events get ${event_id} --json`;
    expect(event).toMatchObject({ type: "invoice.paid", data: { total: 7 } });
    await expect
      .poll(async () => (await posthorn`deliveries get ${delivery_id}`).out)
      .toMatch(/PHASES \(MS\)[\s\S]*queue \d+, connect \d+, first byte \d+, body \d+/);
  });

  test("are shown with all settings, and headers without values", async () => {
    await posthorn`tenants put wordy`;
    const of = argv`--tenant wordy`;
    const settings = {
      filter: { data: { amount: { $gte: 5 } } },
      headers: { "X-Team": "s3cret", "X-Shop": "a" },
      timeout_ms: 2_500,
      max_in_flight: 3,
      rate_limit: 50,
      ordering: "fifo",
      fifo_on_dead: "hold",
      retry_policy: { gaps: ["90s", "5m", "1h"], max_age: "3d" },
      retry_on: "every",
      format: "thin",
    };
    const create = argv`endpoints create https://a.example/in ${of} --data ${JSON.stringify(settings)}`;
    const { id } = (await posthorn`${create} --json`).json;
    const { out } = await posthorn`endpoints get ${id} ${of}`;
    for (const line of [
      /^tenant +wordy$/m,
      /^filter +\{"data":\{"amount":\{"\$gte":5\}\}\}$/m,
      /^headers +X-Shop X-Team$/m,
      /^format +thin$/m,
      /^timeout +2500ms$/m,
      /^in flight +at most 3$/m,
      /^rate limit +50 per second$/m,
      /^ordering +fifo, after a dead letter: hold$/m,
      /^retries +90s, 5m, 1h, at most 3d, after every failure$/m,
    ])
      expect(out).toMatch(line);
    expect(out).not.toContain("s3cret");
    await posthorn`endpoints disable ${id} ${of}`;
    const policy = JSON.stringify({ exponential: { base: "1s", cap: "1h", max_attempts: 9 } });
    const others = JSON.stringify({ retry_on: null, max_in_flight_burst: 20 });
    const update = argv`endpoints update ${id} ${of} --retry-policy ${policy} --data ${others}`;
    const changed = (await posthorn`${update}`).out;
    expect(changed).toMatch(/^disabled +20/m);
    expect(changed).toMatch(/^in flight +at most 3 now, 3 to 20$/m);
    expect(changed).toMatch(
      /^retries +random up to 2s, 4s, 8s, …, 256s; 9 attempts, after transient failures$/m,
    );
  });

  test("accept formats, schemes, tokens and a handshake as options, and change only the given parts", async () => {
    await posthorn`tenants put optional`;
    const of = argv`--tenant optional`;
    const url = (await startReceiver()).url;
    const { json: made } = await posthorn`endpoints create ${url} ${of} --format cloudevents-batch
      --batch-events 10 --scheme github,standard-webhooks --scheme-secret github=theirs=1 --token opaque
      --handshake hooks.example.com --handshake-rate 60 --max-in-flight 2 --max-in-flight-burst 8 --json`;
    expect(made).toMatchObject({
      format: "cloudevents-batch",
      batch: { max_events: 10, max_bytes: 524_288, max_delay_ms: 1_000 },
      signature: { schemes: ["github", "standard-webhooks"] },
      authorization: { type: "bearer" },
      handshake: { origin: "hooks.example.com", rate: 60 },
      max_in_flight: 2,
      max_in_flight_burst: 8,
    });
    const { id } = made;
    const update = async (...args: string[]) =>
      (await posthorn`endpoints update ${id} ${of} ${args} --json`).json;
    expect(await update("--batch-delay-ms", "50")).toMatchObject({
      batch: { max_events: 10, max_delay_ms: 50 },
    });
    const signature = { schemes: ["github", "standard-webhooks"], header_prefix: "X-Shop" };
    expect(await update("--header-prefix", "X-Shop")).toMatchObject({ signature });
    expect((await update("--token-in", "query")).authorization).toEqual({ type: "query" });
    const handshake = { origin: "hooks.example.com", rate: 90 };
    expect(await update("--handshake-rate", "90")).toMatchObject({ handshake });
    const { out } = await posthorn`endpoints get ${id} ${of}`;
    expect(out).toMatch(/^signature +github \(X-Hub-Signature-256, X-GitHub-Event, X-GitHub-Delivery\)$/m);
    expect(out).toMatch(/^state +active, handshake (requesting|denied)$/m);
    const err = expect.stringContaining("has not agreed to webhooks");
    expect(await posthorn`endpoints test ${id} ${of}`).toMatchObject({ code: 3, err });
    await update("--format", "envelope");
    await posthorn`publish order.paid ${of}`;
    expect((await posthorn`deliveries list ${of}`).out).toContain(
      "held: the receiver has not agreed to the handshake",
    );
    const own = argv`--scheme github --secret another`;
    expect((await posthorn`endpoints rotate-secret ${id} ${of} ${own}`).out).toBe("another\n");
    const imported = argv`--scheme github --secret 00ff --secret-encoding hex`;
    expect((await posthorn`endpoints rotate-secret ${id} ${of} ${imported}`).out).toBe("00ff\n");
    const bare = await update("--no-token", "--no-handshake", "--preset", "standard-webhooks");
    const standard = { timeout_ms: 20_000, retry_on: "every" };
    expect(bare).toMatchObject({ authorization: null, handshake: null, ...standard });
  });

  test("the output of list can be imported, unchanged or as new endpoints", async () => {
    for (const tenant of ["from", "to"]) await posthorn`tenants put ${tenant}`;
    const given =
      '{"headers":{"X-Team":"a"},"retry_policy":"30s,5m","filter":{"data":{"a":1}},"rate_limit":7}';
    const make = (url: string) => posthorn`endpoints create ${url} --tenant from --data ${given} --json`;
    await make("https://a.example/in?token=1");
    const { json: second } = await make("https://b.example/in");
    await posthorn`endpoints disable ${second.id} --tenant from`;
    const exported = await posthorn`endpoints list --tenant from --json`;
    const into = (tenant: string, ...more: string[]) =>
      posthorn({ stdin: exported.out })`endpoints import --tenant ${tenant} --data - ${more}`;

    await into("from");
    expect((await into("from")).out).toMatch(/unchanged.*\n.*unchanged/);
    const after = await posthorn`endpoints list --tenant from --json`;
    const timeless = (endpoint: object) => ({ ...endpoint, updated_at: "" });
    expect(after.json.data.map(timeless)).toEqual(exported.json.data.map(timeless));
    const err = expect.stringContaining("Use --as-new to create all of them.");
    expect(await into("to")).toMatchObject({ code: 3, err });
    const tried = await into("to", "--as-new", "--dry-run");
    expect(tried.err).toBe("Nothing was changed: this was a dry run.\n");
    expect(tried.out).toMatch(/created +https:\/\/[ab]\.example\/in/);
    expect((await into("to", "--as-new", "--json")).json).toMatchObject({
      dry_run: false,
      endpoints: [{ action: "created" }, { action: "created" }],
    });
    const copied = await posthorn`endpoints list --tenant to --json`;
    const settingsOf = ({ url, headers, filter, is_active, retry_policy, rate_limit }: Endpoint) =>
      JSON.stringify({ url, headers, filter, is_active, retry_policy, rate_limit });
    const listed = ({ json }: CommandResult): string[] => json.data.map(settingsOf).toSorted();
    expect(listed(copied)).toEqual(listed(exported));
  });

  test("irreversible changes ask for confirmation on a terminal", async () => {
    const id = await makeEndpoint("asking", "https://hooks.example/in");
    const remove = argv`endpoints delete ${id} --tenant asking`;
    const no = await posthorn({ answers: "n" })`${remove}`;
    expect(no).toMatchObject({ code: 1, out: "" });
    expect(no.err).toMatch(
      /^This deletes the endpoint ep_\S+; its backlog becomes dead letters\. Continue\? \[y\/N\] /,
    );
    expect((await posthorn`endpoints get ${id} --tenant asking`).code).toBe(0);
    expect(await posthorn({ answers: "n" })`${remove} --yes`).toMatchObject({ code: 0, err: "" });
  });
});

describe("tenants, members and keys", () => {
  test("tenants are created, changed, shown and deleted", async () => {
    const { json } = await posthorn`tenants put t1 --name One --inactive --json`;
    expect(json).toMatchObject({ name: "One", is_active: false });
    expect((await posthorn`tenants put t1 --active`).out).toMatch(/^active +yes$/m);
    expect((await posthorn`tenants get t1 --json`).json.name).toBe("One");
    const { data } = (await posthorn`tenants list --limit 1000 --json`).json;
    expect(data).toContainEqual(expect.objectContaining({ id: "t1" }));
    expect((await posthorn`tenants delete t1 --json`).json).toEqual({ id: "t1", deleted: true });
    expect((await posthorn`tenants put t1`).err).toContain("Use --restore to restore it");
    const lost = await posthorn`endpoints create https://a.example/in --tenant nowhere`;
    expect(lost.err).toContain("Create it with: posthorn tenants put <tenant>");
    expect((await posthorn`tenants put t1 --restore --json`).json.id).toBe("t1");
  });

  test("topics are made public with a warning, shown, and removed", async () => {
    const open = await posthorn`tenants put open --websub-topics ${"order.paid, invoice.*"}`;
    expect(open.err).toContain("without a key");
    expect(open.out).toMatch(/^websub topics +order\.paid invoice\.\*$/m);
    expect((await posthorn`tenants put open --name x --json`).json.websub_topics).toHaveLength(2);
    const closed = await posthorn`tenants put open --websub-topics ${""} --json`;
    expect(closed.json.websub_topics).toEqual([]);
  });

  test("members are added, shown, given a token and removed", async () => {
    await posthorn`tenants put clubs`;
    const of = argv`--tenant clubs`;
    const added = await posthorn`members put ann ${of} --role owner --email ann@example.com --json`;
    expect(added.json.role).toBe("owner");
    expect((await posthorn`members get ann ${of}`).out).toContain("ann@example.com");
    expect((await posthorn`members list ${of}`).out).toMatch(/ann +owner/);
    const token = await posthorn`members token ann ${of} --expires-in 60 --json`;
    expect((await posthorn`endpoints list ${of} --key ${token.json.key}`).code).toBe(0);
    expect((await posthorn`keys list ${of}`).out).toContain("token of ann, owner");
    expect((await posthorn`members delete ann ${of}`).out).toBe("ann is removed.\n");
  });

  test("keys are created, used, listed and revoked", async () => {
    await posthorn`tenants put keyed`;
    const made = await posthorn`keys create shop --scopes events:publish,deliveries:read --tenant keyed
      --rate-limit 50 --expires-at 2099-01-01`;
    const key = made.out.trimEnd();
    const [, id = ""] = /^The key is shown only once\. Its id is (\S+)\.\n$/.exec(made.err) ?? [];
    expect((await posthorn`publish a.b --tenant keyed --key ${key}`).code).toBe(0);
    const { out } = await posthorn`keys list --tenant keyed`;
    expect(out).toMatch(/shop +keyed +events:publish deliveries:read +50\/s .*2099-01-01/);
    expect(await posthorn`keys list --key ${key}`).toMatchObject({
      code: 3,
      out: "",
      err: "This needs the scope admin, which the key lacks. Set a key with this permission with --key or POSTHORN_API_KEY.\n",
    });
    expect((await posthorn`keys revoke ${id} --json`).json).toEqual({ id, revoked: true });
  });
});

describe("replays and dead letters", () => {
  test("a replay is scheduled, listed and cancelled", async () => {
    await posthorn`tenants put scheduling`;
    const of = argv`--tenant scheduling`;
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const scheduled = await posthorn`replay start ${of} --at ${at} --yes --json`;
    expect(scheduled.json).toMatchObject({ state: "scheduled", start_at: at, started_at: null });
    const { id } = scheduled.json;
    const listed = (await posthorn`replay list ${of} --state scheduled`).out;
    expect(listed).toMatch(/ START\n/);
    expect(listed).toContain(
      `${id}  scheduled  0       0          0     scheduling  ${at.replace("T", " ")}`,
    );
    expect((await posthorn`replay get ${id}`).out).toBe(
      `${id} starts at ${at.replace("T", " ")}. Cancel: posthorn replay cancel ${id}\n`,
    );
    expect((await posthorn`replay cancel ${id} --json`).json.state).toBe("cancelled");
    expect((await posthorn`replay start ${of} --at 2020-01-01`).err).toContain(
      "--at must be a day or a time",
    );
  });

  test("a replay whose key is revoked before it starts says so", async () => {
    await posthorn`tenants put revoking`;
    const { id: keyId, key } = (
      await posthorn`keys create ci --tenant revoking --scopes deliveries:retry,deliveries:read --json`
    ).json;
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = (await posthorn`replay start --at ${at} --yes --key ${key} --json`).json;
    await posthorn`keys revoke ${keyId} --yes`;
    expect((await posthorn`replay get ${id}`).out).toBe(
      `${id} is cancelled: 0 queued again.\nThe key, token or portal link that scheduled it was revoked.\n`,
    );
  });

  test("dead letters are counted, replayed and followed to the end", async () => {
    const failing = (await startReceiver(400)).url;
    const id = await makeEndpoint("replaying", failing);
    for (const n of [1, 2]) await posthorn`publish order.paid --tenant replaying --data {"n":${n}}`;
    const dead = argv`deliveries list --tenant replaying --state dead --json`;
    await expect.poll(async () => (await posthorn`${dead}`).json.data.length).toBe(2);
    const of = argv`--tenant replaying`;
    expect((await posthorn`replay start ${of} --dry-run`).out).toBe("Deliveries to send again: 2.\n");
    expect((await posthorn({ answers: "n" })`replay start ${of}`).code).toBe(1);
    await posthorn`endpoints update ${id} ${of} --to ${(await startReceiver()).url}`;
    const ended = await posthorn`replay start ${of} --rate 500 --json`;
    expect(ended.json).toMatchObject({ state: "finished", done: 2, total: 2 });
    expect((await posthorn`replay list ${of}`).out).toContain("2 of 2");
    await expect
      .poll(async () => (await posthorn`replay get ${ended.json.id}`).out)
      .toContain("is finished: 2 of 2 queued again.\nOutcomes: 2 delivered.");
    expect((await posthorn`replay cancel ${ended.json.id}`).code).toBe(3);
  });

  test("a delivery is cancelled, and a dead letter is deleted permanently", async () => {
    await makeEndpoint("cancelling", (await startReceiver(503)).url);
    await posthorn`publish order.paid --tenant cancelling --data {}`;
    const queue = argv`deliveries retry-queue --tenant cancelling --json`;
    await expect.poll(async () => (await posthorn`${queue}`).json.data.length).toBe(1);
    const [{ id }] = (await posthorn`${queue}`).json.data;
    expect((await posthorn`deliveries cancel ${id}`).out).toBe(`${id} is cancelled.\n`);
    expect((await posthorn`deliveries cancel ${id}`).code).toBe(3);
    expect((await posthorn`${queue}`).json.data).toEqual([]);
    expect((await posthorn({ answers: "n" })`deliveries delete ${id}`).code).toBe(1);
    expect((await posthorn`deliveries delete ${id} --yes`).out).toBe(`${id} is deleted.\n`);
    expect((await posthorn`deliveries get ${id}`).code).toBe(3);
  });
});
