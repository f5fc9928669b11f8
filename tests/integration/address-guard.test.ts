// The address guard where it matters: when an endpoint is registered, and when a delivery is sent to a row that nobody
// checked. Nothing but loopback is ever dialled here, whatever is broken: other sockets are taken away before they open.
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import net, { type AddressInfo, createServer } from "node:net";
import tls from "node:tls";
import type pg from "pg";
import { PosthornError } from "posthorn";
import { createTestInstance, type TestInstance, type TestInstanceOptions } from "posthorn/testing";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { loopbackUrls, publicUrls, specialUrls, unusableUrls } from "../support/hostile-urls.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";
import { startServer } from "../support/start-server.ts";

const TENANT = "acme";
const forbiddenUrls = [...loopbackUrls, ...specialUrls];

interface World {
  readonly pool: pg.Pool;
  readonly instance: TestInstance;
  /** Registers an endpoint and then writes another URL into its row. */
  plant(url: string): Promise<string>;
  /** Delivers one event to every endpoint, as far as it goes, and says what became of each. */
  deliver(): Promise<Map<string, Delivered>>;
}

interface Delivered {
  readonly state: string;
  readonly deadReason: string | null;
  readonly errors: readonly (string | null)[];
  readonly details: string;
}

async function createWorld(options: Partial<TestInstanceOptions> = {}): Promise<World> {
  const database = await createMigratedDatabase();
  const pool = createPool(database.connectionString);
  const instance = await createTestInstance({
    database: database.connectionString,
    allowCidrs: [],
    maxEndpointsPerTenant: 1_000,
    retryPolicy: "1s,1s",
    ...options,
  });
  onTestFinished(async () => {
    await instance.close();
    await pool.end();
    await database.drop();
  });
  const { hooks } = instance;
  await hooks.tenants.upsert(TENANT, {});
  return {
    pool,
    instance,
    plant: async (url) => {
      const { endpoint } = await hooks.endpoints.create(TENANT, {
        url: "https://example.com/",
        events: ["*"],
      });
      await pool.query("update posthorn.endpoints set url = $1 where id = $2", [url, endpoint.id.slice(3)]);
      return endpoint.id;
    },
    deliver: async () => {
      await hooks.publish({ tenant: TENANT, type: "order.paid", data: {} });
      await instance.settle();
      return await whatBecame(pool);
    },
  };
}

async function whatBecame(pool: pg.Pool): Promise<Map<string, Delivered>> {
  const { rows } = await pool.query(
    "select d.endpoint_id, d.state, d.dead_reason, array_agg(a.error order by a.number) as errors, " +
      "string_agg(convert_from(a.response_body, 'utf8'), ' ') as details " +
      "from posthorn.delivery_states d join posthorn.attempts a on a.delivery_id = d.id group by 1, 2, 3",
  );
  return new Map(
    rows.map(({ endpoint_id, state, dead_reason, errors, details }) => [
      `ep_${endpoint_id}`,
      { state, deadReason: dead_reason, errors, details: details ?? "" },
    ]),
  );
}

/** No socket is opened but on loopback; the rest is written down and fails. */
function catchSockets(): string[] {
  const dialled: string[] = [];
  const caught = ({ host }: { host: string }) => {
    dialled.push(host);
    const socket = new net.Socket();
    process.nextTick(() => socket.destroy(new Error("caught")));
    return socket;
  };
  vi.spyOn(net, "connect").mockImplementation(caught as never);
  vi.spyOn(tls, "connect").mockImplementation(caught as never);
  return dialled;
}

function answerNames(answers: Readonly<Record<string, readonly string[]>>): void {
  const answer = async (hostname: string, isWanted: (ip: string) => boolean) => {
    const found = (answers[hostname] ?? []).filter(isWanted);
    if (found.length === 0) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return found;
  };
  vi.spyOn(Resolver.prototype, "resolve4").mockImplementation(((hostname: string) =>
    answer(hostname, (ip) => !ip.includes(":"))) as never);
  vi.spyOn(Resolver.prototype, "resolve6").mockImplementation(((hostname: string) =>
    answer(hostname, (ip) => ip.includes(":"))) as never);
}

/** Listens on 127.0.0.1 and ::1, and counts who comes. */
async function startCanary(): Promise<{ port: number; visits: () => number }> {
  let visits = 0;
  let port = 0;
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createServer((socket) => {
      visits += 1;
      socket.destroy();
    });
    await once(server.listen(port, host), "listening");
    onTestFinished(() => void server.close());
    port = (server.address() as AddressInfo).port;
  }
  return { port, visits: () => visits };
}

function withPort(url: string, port: number): string {
  return url.replace(/^http:\/*[^/#]*/, (start) => `${start}:${port}`);
}

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  [["10.0.0.0/8", "169.254.169.254/32"], [["169.254.0.0/16"]]],
  [["10.0.0.0/8"], []],
])(
  "with %j allowed, a start warns of the cloud metadata in it that stays refused",
  async (allowCidrs, refused) => {
    const warn = vi.fn();
    await createWorld({ allowCidrs, logger: { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() } });
    const warned = warn.mock.calls.filter(([message]) => message.includes("POSTHORN_ALLOW_CIDRS"));
    expect(warned.map(([, fields]) => fields.refused)).toEqual(refused);
  },
);

describe("an endpoint cannot be registered", () => {
  test("nor changed to a URL that is not public, and the error names the rule and not an address", async () => {
    const { instance } = await createWorld({ started: false });
    const { endpoints } = instance.hooks;
    const { endpoint } = await endpoints.create(TENANT, { url: "https://example.com/", events: ["*"] });
    for (const url of forbiddenUrls) {
      for (const attempt of [
        () => endpoints.create(TENANT, { url, events: ["*"] }),
        () => endpoints.update(TENANT, endpoint.id, { url }),
      ]) {
        const error = await attempt().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(error, url).toBeInstanceOf(PosthornError);
        expect(error, url).toMatchObject({ code: "invalid_endpoint", problems: [{ pointer: "/url" }] });
        const { message } = error as PosthornError;
        expect(message).toMatch(/not a public one.*POSTHORN_ALLOW_CIDRS|never allowed/);
        expect(message).not.toMatch(/\d+\.\d+\.\d+/);
      }
    }
    expect((await endpoints.list(TENANT)).data).toHaveLength(1);
  });

  test("with a URL that cannot be used", async () => {
    const { instance } = await createWorld({ started: false });
    for (const [url] of unusableUrls) {
      await expect(
        instance.hooks.endpoints.create(TENANT, { url, events: ["*"] }),
        url,
      ).rejects.toMatchObject({ code: "invalid_endpoint", problems: [{ pointer: "/url" }] });
    }
  });

  test("over HTTP either", async () => {
    const { call } = await startServer({ posthorn: { allowCidrs: [] }, started: false });
    await call("PUT", `/api/v1/tenants/${TENANT}`, {});
    const path = `/api/v1/tenants/${TENANT}/endpoints`;
    for (const url of [
      "http://0x7f.1/",
      "http://[::ffff:10.0.0.1]/",
      "http://169.254.169.254/",
      "http://localhost/",
    ]) {
      const { status, json } = await call("POST", path, { url, events: ["*"] });
      expect([status, json.code, json.errors[0].pointer], url).toEqual([422, "invalid_endpoint", "/url"]);
    }
    const good = await call("POST", path, { url: "https://example.com/", events: ["*"] });
    expect(good.status).toBe(201);
    const { status } = await call("PATCH", `${path}/${good.json.id}`, { url: "http://10.0.0.1/" });
    expect(status).toBe(422);
  });

  test("with the operator's settings, or with headers that are the sender's", async () => {
    const { call } = await startServer({ posthorn: { allowCidrs: [] }, started: false });
    await call("PUT", `/api/v1/tenants/${TENANT}`, {});
    const create = (more: object) =>
      call("POST", `/api/v1/tenants/${TENANT}/endpoints`, {
        url: "https://example.com/",
        events: ["*"],
        ...more,
      });
    for (const [more, pointer] of [
      [{ allow_cidrs: ["10.0.0.0/8"] }, "/allow_cidrs"],
      [{ allow_http: true }, "/allow_http"],
      [{ allow_nat64: true }, "/allow_nat64"],
      [{ headers: { Host: "internal" } }, "/headers/Host"],
      [{ headers: { "X-Forwarded-For": "127.0.0.1" } }, "/headers/X-Forwarded-For"],
      [{ headers: { "x-a": "1\r\nHost: internal" } }, "/headers/x-a"],
    ] as const) {
      const { status, json } = await create(more);
      expect([status, json.errors[0].pointer]).toEqual([422, pointer]);
    }
  });

  test("but its public neighbours can", async () => {
    const { instance } = await createWorld({ started: false });
    for (const url of publicUrls) {
      await expect(
        instance.hooks.endpoints.create(TENANT, { url, events: ["*"] }),
        url,
      ).resolves.toBeDefined();
    }
  });
});

describe("a delivery to a row that nobody checked", () => {
  test("never reaches loopback, however it is spelt", async () => {
    const canary = await startCanary();
    const world = await createWorld();
    for (const url of loopbackUrls) await world.plant(withPort(url, canary.port));
    const became = await world.deliver();
    expect(became.size).toBe(loopbackUrls.length);
    for (const delivered of became.values()) expect(delivered).toMatchObject(BLOCKED);
    expect(canary.visits()).toBe(0);

    const open = await createWorld({ allowCidrs: ["127.0.0.0/8", "::1/128"] });
    await open.plant(`http://127.1:${canary.port}/`);
    await open.plant(`http://[::1]:${canary.port}/`);
    await open.deliver();
    expect(canary.visits()).toBe(2);
  });

  test("opens no socket to an address that is not public, and tells nobody which", async () => {
    const dialled = catchSockets();
    const world = await createWorld();
    const planted = new Map<string, string>();
    for (const url of specialUrls) planted.set(await world.plant(url), url);
    const became = await world.deliver();
    for (const [endpoint, url] of planted) {
      expect(became.get(endpoint), url).toMatchObject(BLOCKED);
      expect(became.get(endpoint)?.details).toMatch(/POSTHORN_ALLOW_CIDRS|never allowed/);
      expect(became.get(endpoint)?.details).not.toMatch(/\d+\.\d+\.\d+|::/);
    }
    expect(dialled).toEqual([]);
  });

  test("is no request when its URL cannot be used", async () => {
    const dialled = catchSockets();
    const world = await createWorld();
    const planted = new Map<string, string>();
    for (const [url] of unusableUrls) planted.set(await world.plant(url), url);
    const became = await world.deliver();
    for (const [endpoint, url] of planted) {
      expect(became.get(endpoint), url).toMatchObject({
        state: "dead",
        deadReason: "invalid_request",
        errors: ["invalid_request"],
      });
    }
    expect(dialled).toEqual([]);
  });

  test("dials the public neighbours of every special range", async () => {
    const dialled = catchSockets();
    const world = await createWorld();
    for (const url of publicUrls) await world.plant(url);
    const became = await world.deliver();
    for (const { state, errors } of became.values())
      expect([state, errors]).toEqual(["failed", ["connection_error"]]);
    const hosts = publicUrls.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ""));
    expect(dialled.toSorted()).toEqual(hosts.toSorted());
  });

  test("opens no socket for a name that leads inside, also when only one of its addresses does", async () => {
    const dialled = catchSockets();
    answerNames({
      "private.example.com": ["10.0.0.5"],
      "mixed.example.com": ["8.8.8.8", "10.0.0.5"],
      "mapped.example.com": ["::ffff:10.0.0.5"],
      "nat64.example.com": ["8.8.8.8", "64:ff9b::8.8.8.8"],
      "metadata.example.com": ["169.254.169.254"],
      "own.example.com": ["127.0.0.1"],
    });
    const world = await createWorld();
    for (const name of ["private", "mixed", "mapped", "nat64", "metadata", "own"]) {
      await world.plant(`https://${name}.example.com/`);
    }
    const became = await world.deliver();
    for (const delivered of became.values()) {
      expect(delivered).toMatchObject(BLOCKED);
      expect(delivered.details).not.toMatch(/\d+\.\d+\.\d+|::/);
    }
    expect([became.size, dialled]).toEqual([6, []]);
  });

  test("stops for good when its name is rebound between two attempts", async () => {
    const dialled = catchSockets();
    const answers: Record<string, string[]> = { "rebound.example.com": ["8.8.8.8"] };
    answerNames(answers);
    const world = await createWorld();
    const endpoint = await world.plant("https://rebound.example.com/");
    expect((await world.deliver()).get(endpoint)).toMatchObject({
      state: "failed",
      errors: ["connection_error"],
    });
    answers["rebound.example.com"] = ["10.0.0.5"];
    await world.instance.advance(2_000);
    await world.instance.settle();
    expect((await whatBecame(world.pool)).get(endpoint)).toMatchObject({
      state: "dead",
      deadReason: "blocked_address",
      errors: ["connection_error", "blocked_address"],
    });
    expect(dialled).toEqual(["rebound.example.com"]);
  });

  test("is tried again when its name has no address", async () => {
    const dialled = catchSockets();
    answerNames({});
    const world = await createWorld();
    const endpoint = await world.plant("https://nowhere.example.com/");
    expect((await world.deliver()).get(endpoint)).toMatchObject({ state: "failed", errors: ["dns_error"] });
    expect(dialled).toEqual([]);
  });

  test("goes through NAT64 when the operator says so, to public addresses only", async () => {
    const dialled = catchSockets();
    answerNames({ "good.example.com": ["64:ff9b::8.8.8.8"], "bad.example.com": ["64:ff9b::10.0.0.5"] });
    const world = await createWorld({ allowNat64: true });
    const good = await world.plant("https://good.example.com/");
    const bad = await world.plant("https://bad.example.com/");
    const became = await world.deliver();
    expect(became.get(good)?.errors).toEqual(["connection_error"]);
    expect(became.get(bad)).toMatchObject(BLOCKED);
    expect(dialled).toEqual(["good.example.com"]);
  });

  test("keeps metadata closed, whatever the operator opened", async () => {
    const dialled = catchSockets();
    const world = await createWorld({ allowCidrs: ["0.0.0.0/0", "::/0"], allowNat64: true });
    for (const host of [
      "169.254.169.254",
      "100.100.100.200",
      "168.63.129.16",
      "192.0.0.192",
      "[fd00:ec2::254]",
      "[fd20:ce::254]",
      "[::ffff:169.254.169.254]",
      "[64:ff9b::169.254.169.254]",
      "metadata.google.internal",
    ]) {
      await world.plant(`http://${host}/`);
    }
    for (const delivered of (await world.deliver()).values()) expect(delivered).toMatchObject(BLOCKED);
    expect(dialled).toEqual([]);
  });

  test("as a test event is blocked like any other", async () => {
    const dialled = catchSockets();
    const world = await createWorld();
    const endpoint = await world.plant("http://169.254.169.254/");
    await world.instance.hooks.endpoints.test(TENANT, endpoint);
    await world.instance.settle();
    expect((await whatBecame(world.pool)).get(endpoint)).toMatchObject(BLOCKED);
    expect(dialled).toEqual([]);
  });
});

/** Once, and for good: it is not tried again. */
const BLOCKED = { state: "dead", deadReason: "blocked_address", errors: ["blocked_address"] };
