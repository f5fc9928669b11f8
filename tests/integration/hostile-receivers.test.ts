// What hostile receivers can do to us and to their neighbours: nothing but have their own attempts fail.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTestInstance, startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import type { SenderReport } from "../support/hostile-sender-child.ts";
import { type HostilePath, startHostileServer } from "../support/hostile-server.ts";
import { isQuick } from "../support/matrix.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";

/** Long enough for a busy machine to answer in time. */
const TIMEOUT_MS = 3_000;

interface Recorded {
  readonly state: string;
  readonly dead_reason: string | null;
  readonly status_code: number | null;
  readonly error: string | null;
}

const delivered = { state: "success", dead_reason: null, status_code: 200, error: null };
const failed = (error: string) => ({ state: "failed", dead_reason: null, status_code: null, error });

const expected: Record<HostilePath, Recorded> = {
  ok: delivered,
  silent: failed("timeout"),
  "header-drip": failed("timeout"),
  // the status line is the receipt; the body is only for the log
  "body-drip": delivered,
  "header-flood": failed("headers_too_large"),
  "header-hoard": failed("timeout"),
  "informational-flood": failed("bad_response"),
  "endless-body": delivered,
  "endless-chunks": delivered,
  bomb: delivered,
  "reset-before": failed("connection_reset"),
  "reset-after": delivered,
  "two-lengths": failed("bad_response"),
  "too-short": delivered,
  "no-http": failed("bad_response"),
  upgrade: failed("bad_response"),
  "status-000": failed("bad_response"),
  "status-600": { state: "failed", dead_reason: null, status_code: 600, error: null },
  "status-999": { state: "failed", dead_reason: null, status_code: 999, error: null },
  redirect: { state: "dead", dead_reason: "redirect", status_code: 302, error: null },
  second: delivered,
};

async function createWorld() {
  const [database, hostile] = [await createMigratedDatabase(), await startHostileServer()];
  const pool = createPool(database.connectionString);
  const instance = await createTestInstance({
    database: database.connectionString,
    maxEndpointsPerTenant: 100,
    retryPolicy: "1h",
    timeoutMs: TIMEOUT_MS,
  });
  onTestFinished(async () => {
    // first, or the stop would wait for what it holds
    await hostile.close();
    await instance.close();
    await pool.end();
    await database.drop();
  });
  await instance.hooks.tenants.upsert("acme", {});
  return { instance, hostile, pool };
}

test("every hostile answer ends in its recorded outcome, within the deadline, and holds no connection", async () => {
  const { instance, hostile, pool } = await createWorld();
  const endpoints = new Map<string, HostilePath>();
  for (const path of Object.keys(expected) as HostilePath[]) {
    const url = `${hostile.url}/${path}`;
    const { endpoint } = await instance.hooks.endpoints.create("acme", { url, events: ["*"] });
    endpoints.set(endpoint.id.slice(3), path);
  }
  await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  await instance.settle();
  const { rows } = await pool.query(
    "select d.endpoint_id, d.state, d.dead_reason, a.status_code, a.error, a.duration_ms " +
      "from posthorn.delivery_states d join posthorn.attempts a on a.delivery_id = d.id",
  );
  const recorded = Object.fromEntries(
    rows.map(({ endpoint_id, duration_ms, ...row }) => [endpoints.get(endpoint_id), row]),
  );
  expect(recorded).toEqual(expected);
  for (const { endpoint_id, duration_ms } of rows) {
    expect(duration_ms, endpoints.get(endpoint_id)).toBeLessThan(TIMEOUT_MS + 2_000);
  }
  // those that kept to the protocol may have theirs kept for the next delivery, for 4 s
  const civil = Object.values(expected).filter(({ status_code }) => status_code !== null).length;
  expect(hostile.connections).toBeLessThanOrEqual(civil);
});

test("a healthy endpoint is delivered to while hostile ones hold all that they can", async () => {
  const { instance, hostile } = await createWorld();
  const healthy = await startScriptedReceiver();
  onTestFinished(() => healthy.close());
  const { endpoints, publish } = instance.hooks;
  const paths: HostilePath[] = ["silent", "header-drip", "header-hoard", "body-drip"];
  for (const path of paths) {
    await endpoints.create("acme", { url: `${hostile.url}/${path}`, events: ["*"], timeoutMs: 60_000 });
  }
  await endpoints.create("acme", { url: `${healthy.url}/hook`, events: ["*"] });
  for (let i = 0; i < 30; i += 1) {
    await publish.call(instance.hooks, { tenant: "acme", type: "order.paid", data: { i } });
  }
  expect(await healthy.received(30)).toHaveLength(30);
  // five attempts in flight each, none of which has ended
  await expect.poll(() => hostile.connections).toBe(paths.length * 5);
});

test.skipIf(isQuick)(
  "hundreds of hostile connections take a bounded amount of memory, and a request beside them is answered",
  async () => {
    const hostile = await startHostileServer();
    onTestFinished(() => hostile.close());
    // What pours has no deadline to speak of: it ends because a limit is reached, or this test does not.
    const pouring: HostilePath[] = ["endless-body", "endless-chunks", "header-flood", "informational-flood"];
    // The others hold their connections until the deadline; two of them have to return a status before it.
    const targets = [
      ...pouring.map((path) => `${path}:600000`),
      "header-hoard:2000",
      "body-drip:10000",
      "bomb:10000",
    ];
    const child = fileURLToPath(new URL("../support/hostile-sender-child.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=posthorn-source", "--import", "tsx", child, hostile.url, "50", ...targets],
      { timeout: 50_000 },
    );
    const report = JSON.parse(stdout) as SenderReport;
    expect(report.healthyStatus).toBe(200);
    expect(report.outcomes).toEqual({ 200: 200, timeout: 50, headers_too_large: 50, bad_response: 50 });
    // 140 measured: 1.8 MB for each that holds its headers back, and what the others left to collect
    expect(report.grownMb).toBeLessThan(300);
  },
);
