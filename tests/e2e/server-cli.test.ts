// The posthorn command as people run it: built, in its own process, with the embedded database.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../benchmarks/system/ports.ts";
import { postmasterPid } from "../support/database/own-postgres.ts";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { isQuick } from "../support/matrix.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { makeDataDir, posthorn, run } from "./posthorn-process.ts";
import { adminKey, call } from "./server-processes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const ready = /"message":"ready","url":"([^"]+)"/;

/** Sends JSON with the key. */
const callerOf = (api: string, key: string) => (method: string, path: string, body?: unknown) =>
  call(api + path, method, body, { authorization: `Bearer ${key}`, "content-type": "application/json" });

async function startDev(folder: string) {
  const running = posthorn(folder, ["dev"]);
  await running.printed(/Ctrl\+C stops/);
  const [, api = ""] = await running.printed(/API {9}(\S+)/);
  const [, key = ""] = await running.printed(/Admin key {3}(phk_[A-Za-z0-9_-]{43})\n/);
  return { running, api, key, call: callerOf(api, key) };
}

async function startServe(folder: string, env?: Record<string, string>, args: readonly string[] = []) {
  const running = posthorn(folder, ["serve", ...args], env);
  const [, url = ""] = await running.printed(ready);
  return { running, url };
}

test("dev delivers a first event, and the commands it prints work; a restart changes nothing", async () => {
  const folder = makeDataDir();
  const { running: first, api, key, call } = await startDev(folder);
  expect(first.output()).toMatch(/Delivered evt_\S+ \(webhook.test\) to the built-in sink/);
  expect(first.output()).toMatch(/x-webhook-signature: t=\d+,v1=[0-9a-f]{64}/);
  expect(first.output()).toMatch(/webhook-signature: v1,/);
  const [, body = ""] = await first.printed(/-d '(.*)'/);
  expect(await call("POST", "/events", JSON.parse(body))).toMatchObject({
    status: 202,
    json: { deliveries: 1 },
  });
  const [, code = ""] = await first.printed(
    /Dashboard {3}http:\/\/127\.0\.0\.1:\d+\/first-run#code=(phl_\S+)/,
  );
  const signIn = async () => {
    const headers = { "posthorn-dashboard": "1", "content-type": "application/json" };
    return (await fetch(`${api}/session`, { method: "POST", headers, body: JSON.stringify({ code }) }))
      .status;
  };
  expect([await signIn(), await signIn()]).toEqual([201, 401]);
  for (const file of ["admin-key", "encryption-keys"])
    expect(statSync(join(folder, "data", file)).mode & 0o777).toBe(0o600);
  expect(await first.stop()).toBe(0);

  const second = await startDev(folder);
  await second.running.printed(/Delivered evt_/);
  expect(second.key).toBe(key);
  // an event has been published by now
  await second.running.printed(/Dashboard {3}http:\/\/127\.0\.0\.1:\d+\/#code=phl_\S+/);
  for (const path of ["/tenants", "/tenants/demo/endpoints"])
    expect((await second.call("GET", path)).json.data).toHaveLength(1);
  expect(await second.running.stop()).toBe(0);
});

test.skipIf(isQuick)("serve prints a generated admin key and a dashboard link only once", async () => {
  const folder = makeDataDir();
  const first = await startServe(folder);
  const [, key = ""] = await first.running.printed(/Admin key \(shown only once\): (phk_\S{43})\n/);
  expect((await fetch(`${first.url}/sink/x`, { method: "POST" })).status).toBe(404);
  expect(first.running.output()).toContain(`${first.url}/first-run#code=phl_`);
  expect(await first.running.stop()).toBe(0);
  const second = await startServe(folder);
  expect((await callerOf(second.url, key)("GET", "/api/v1/events")).status).toBe(200);
  expect(second.running.output()).not.toMatch(/ph[kl]_/);
  expect(await second.running.stop()).toBe(0);
});

test.skipIf(isQuick)(
  "an API process and a worker share one database; the worker shows only its health",
  async () => {
    const folder = makeDataDir();
    const env = {
      POSTHORN_ADMIN_KEY: adminKey,
      POSTHORN_SINK: "true",
      POSTHORN_ALLOW_HTTP: "true",
      POSTHORN_ALLOW_CIDRS: "127.0.0.0/8",
    };
    const api = await startServe(folder, env, ["--role", "api"]);
    const worker = await startServe(folder, env, ["--role", "worker"]);
    expect((await fetch(`${worker.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${worker.url}/api/v1/events`)).status).toBe(404);
    const call = callerOf(api.url, env.POSTHORN_ADMIN_KEY);
    await call("PUT", "/api/v1/tenants/acme", {});
    await call("POST", "/api/v1/tenants/acme/endpoints", { url: `${api.url}/sink/acme`, events: ["*"] });
    await call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: 1 });
    await expect.poll(async () => (await call("GET", "/sink/acme/requests")).json.data).toHaveLength(1);
    expect([await worker.running.stop(), await api.running.stop()]).toEqual([0, 0]);
  },
);

test.skipIf(isQuick)("a missing encryption key stops the start, and no key file is created", async () => {
  const folder = makeDataDir();
  await (await startServe(folder)).running.stop();
  const keyFile = join(folder, "data", "encryption-keys");
  rmSync(keyFile);
  const second = posthorn(folder, ["serve"]);
  expect(await second.exited).toBe(1);
  expect(second.output()).toMatch(/encrypted with the key "k1", which is not available here. Copy it/);
  expect(existsSync(keyFile)).toBe(false);
});

test.skipIf(isQuick)(
  "migrate lists pending migrations, applies them, and then has nothing to do",
  async () => {
    const folder = makeDataDir();
    const run = async (...args: string[]): Promise<string> => {
      const running = posthorn(folder, ["migrate", ...args], { LOG_LEVEL: "error" });
      expect([await running.exited, running.output()]).toEqual([0, expect.any(String)]);
      return running.output();
    };
    expect(JSON.parse(await run("--status", "--json"))).toMatchObject({ version: 0 });
    expect(await run()).toMatch(/applied {2}0001/);
    expect(await run()).toMatch(/Nothing to do/);
    const unmigrated = posthorn(makeDataDir(), ["serve"], { POSTHORN_MIGRATE: "check" });
    expect(await unmigrated.exited).toBe(1);
    expect(unmigrated.output()).toMatch(/Run `posthorn migrate`, or set POSTHORN_MIGRATE=auto/);
    expect(unmigrated.output()).not.toMatch(/\n {4}at |unexpectedly/);
  },
);

test.skipIf(isQuick).each(["dev", "serve"])(
  "%s on a port in use fails before it creates anything",
  async (command) => {
    const other = createServer();
    const port = await listen(other);
    onTestFinished(() => void other.close());
    const folder = makeDataDir();
    const running = posthorn(folder, [command, "--port", String(port)]);
    expect(await running.exited).toBe(1);
    expect(running.output()).toContain(`Port ${port} on 127.0.0.1 is in use.`);
    expect(running.output()).not.toMatch(/admin key/i);
    expect(existsSync(join(folder, "data", "admin-key"))).toBe(false);
  },
);

test.skipIf(isQuick)("a catalogue is pushed from a TypeScript module", async () => {
  const folder = makeDataDir();
  const { url } = await startServe(folder, { POSTHORN_ADMIN_KEY: adminKey });
  // below node_modules, so that imports resolve
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const modules = mkdtempSync(`${cache}/catalog-`);
  onTestFinished(() => rmSync(modules, { recursive: true }));
  const file = join(modules, "events.ts");
  writeFileSync(
    file,
    `import { z } from "zod";
     const version: string = "2";
     export const events = { "order.paid": { version, schema: z.object({ total: z.number() }) } };`,
  );
  const env = { POSTHORN_URL: url, POSTHORN_API_KEY: adminKey };
  const pushing = posthorn(folder, ["catalog", "push", file], env);
  expect([await pushing.exited, pushing.output()]).toEqual([0, expect.stringMatching(/order\.paid +2 +new/)]);
  const types = posthorn(folder, ["catalog", "types"], env);
  await types.exited;
  expect(types.output()).toContain("export type OrderPaidV2 = {\n  total: number;\n};");
});

test.skipIf(isQuick)("on a signal the server finishes attempts in flight before it exits", async () => {
  const folder = makeDataDir();
  const { running, call } = await startDev(folder);
  const { opened, open: respond } = gate();
  const receiver = await startReceiver({ until: opened });
  await call("POST", "/tenants/demo/endpoints", { url: receiver.url, events: ["held.up"] });
  await call("POST", "/events", { tenant: "demo", type: "held.up", data: 1 });
  await receiver.received(1);
  running.signal("SIGTERM");
  await running.printed(/send the signal again to stop at once/);
  const refused = await call("POST", "/events", { tenant: "demo", type: "order.paid", data: 1 });
  expect(refused).toMatchObject({ status: 503, json: { code: "shutting_down" } });
  respond();
  expect(await running.exited).toBe(0);
  expect(running.output().trimEnd().split("\n").at(-1)).toContain('"message":"stopped"');
  expect(postmasterPid(join(folder, "data"))).toBeNull();
});

test.skipIf(isQuick).each(["SIGINT", "SIGTERM"] as const)(
  "%s to the process group of npm start stops gracefully and leaves no database running",
  async (signal) => {
    const folder = makeDataDir();
    const running = run(["npm", "start"], root, folder, { HOME: process.env.HOME ?? folder });
    await running.printed(/Ctrl\+C stops/);
    expect(postmasterPid(join(folder, "data"))).not.toBeNull();
    running.signalGroup(signal);
    await running.exited;
    expect(running.output()).toContain('"message":"stopped"');
    expect(running.output()).not.toContain("stopped at once");
    expect(postmasterPid(join(folder, "data"))).toBeNull();
  },
);

test.skipIf(isQuick)("a signal during the start leaves no database running", async () => {
  const folder = makeDataDir();
  const running = posthorn(folder, ["dev"]);
  const made = join(folder, "data/postgres/data");
  await eventually("the data directory exists", () => existsSync(made));
  running.signal("SIGTERM");
  expect(await running.exited).toBe(0);
  expect(postmasterPid(join(folder, "data"))).toBeNull();
});

test.skipIf(isQuick)("a killed embedded database is restarted, and deliveries continue", async () => {
  const folder = makeDataDir();
  const { running, api, call } = await startDev(folder);
  process.kill(Number(postmasterPid(join(folder, "data"))), "SIGKILL");
  await running.printed(/the embedded PostgreSQL is running again/);
  const event = { tenant: "demo", type: "after.kill", data: 1, idempotency_key: "one" };
  await expect.poll(async () => (await call("POST", "/events", event)).status).toBe(202);
  const delivered = async () => (await call("GET", "/deliveries?type=after.kill&state=success")).json.data;
  await expect.poll(delivered, { timeout: 30_000 }).toHaveLength(1);
  await expect.poll(async () => (await fetch(api.replace("/api/v1", "/readyz"))).status).toBe(200);
  expect(running.output().match(/has stopped, restarting it/g)).toHaveLength(1);
  expect(await running.stop()).toBe(0);
  expect(postmasterPid(join(folder, "data"))).toBeNull();
});
