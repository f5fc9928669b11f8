// The address guard in the engine, when a delivery is sent to a URL that was written into the database unchecked. Only
// loopback is ever dialled here, even if the guard is broken: other sockets are mocked.
import { Resolver } from "node:dns/promises";
import net, { createServer } from "node:net";
import tls from "node:tls";
import type { TestInstance } from "posthorn/testing";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../benchmarks/system/ports.ts";
import { databasePerTest } from "../support/database/database-per-test.ts";
import { loopbackUrls, specialUrls } from "../support/samples/hostile-urls.ts";

const TENANT = "acme";

interface Delivered {
  readonly state: string;
  readonly deadReason: string | null;
  readonly errors: readonly (string | null)[];
  readonly details: string;
}

const world = databasePerTest({ allowCidrs: [], maxEndpointsPerTenant: 1_000, retryPolicy: "1h" });

/** Registers an endpoint and then writes another URL into its row. */
async function plant({ hooks }: TestInstance, url: string): Promise<string> {
  const { endpoint } = await hooks.endpoints.create(TENANT, { url: "https://example.com/", events: ["*"] });
  await world.pool.query("update posthorn.endpoints set url = $1 where id = $2", [url, endpoint.id.slice(3)]);
  return endpoint.id;
}

/** Delivers one event to every endpoint, and returns the outcome of each. */
async function deliver(instance: TestInstance): Promise<Map<string, Delivered>> {
  await instance.hooks.publish({ tenant: TENANT, type: "order.paid", data: {} });
  await instance.settle();
  const { rows } = await world.pool.query(
    `select 'ep_' || d.endpoint_id as endpoint, d.state, d.dead_reason as "deadReason",
       array_agg(a.error order by a.number) as errors,
       coalesce(string_agg(convert_from(a.response_body, 'utf8'), ' '), '') as details
     from posthorn.delivery_states d
     join posthorn.attempts a on a.delivery_id = d.id
     group by 1, 2, 3`,
  );
  return new Map(rows.map(({ endpoint, ...outcome }) => [endpoint, outcome]));
}

/** Every socket fails, and its host is recorded. */
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

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  [["10.0.0.0/8", "169.254.169.254/32"], [["169.254.0.0/16"]]],
  [["10.0.0.0/8"], []],
])(
  "with %j allowed, a start warns about cloud metadata, which stays blocked",
  async (allowCidrs, refused) => {
    const warn = vi.fn();
    await world.open({ allowCidrs, logger: { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() } });
    const warned = warn.mock.calls.filter(([message]) => message.includes("POSTHORN_ALLOW_CIDRS"));
    expect(warned.map(([, fields]) => fields.refused)).toEqual(refused);
  },
);

describe("a delivery to an unchecked URL", () => {
  test("reaches loopback if it is allowed", async () => {
    const instance = await world.open({ allowCidrs: ["127.0.0.0/8", "::1/128"] });
    const visited: string[] = [];
    for (const [address, host] of [
      ["127.0.0.1", "127.1"],
      ["::1", "[::1]"],
    ] as const) {
      const server = createServer((socket) => {
        visited.push(address);
        socket.destroy();
      });
      await plant(instance, `http://${host}:${await listen(server, 0, address)}/`);
      onTestFinished(() => void server.close());
    }
    await deliver(instance);
    expect(visited.toSorted()).toEqual(["127.0.0.1", "::1"]);
  });

  test("opens no socket to an address that is not public, nor for a name that resolves to one, and reports no address", async () => {
    const dialled = catchSockets();
    answerNames({
      "private.example.com": ["10.0.0.5"],
      "mixed.example.com": ["8.8.8.8", "10.0.0.5"],
      "mapped.example.com": ["::ffff:10.0.0.5"],
    });
    const instance = await world.open();
    const names = ["private", "mixed", "mapped"].map((name) => `https://${name}.example.com/`);
    const planted = new Map<string, string>();
    for (const url of [...loopbackUrls, ...specialUrls, ...names])
      planted.set(await plant(instance, url), url);
    const outcomes = await deliver(instance);
    for (const [endpoint, url] of planted) {
      expect(outcomes.get(endpoint), url).toMatchObject(BLOCKED);
      expect(outcomes.get(endpoint)?.details).toMatch(/POSTHORN_ALLOW_CIDRS|never allowed/);
      expect(outcomes.get(endpoint)?.details).not.toMatch(/\d+\.\d+\.\d+|::/);
    }
    expect(dialled).toEqual([]);
  });
});

/** Blocked at the first attempt and not retried. */
const BLOCKED = { state: "dead", deadReason: "blocked_address", errors: ["blocked_address"] };
