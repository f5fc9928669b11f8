// The posthorn command as people run it: built, in a process of its own, with the embedded database.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isQuick } from "../support/matrix.ts";
import { makeDataDir, posthorn, run } from "../support/posthorn-process.ts";
import { postmasterPid } from "../support/postmaster-pid.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A receiver that takes connections and answers when it is told to. */
async function startHolder(): Promise<{ url: string; arrived: Promise<Socket> }> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void holder.close());
  const arrived = new Promise<Socket>((resolve) => {
    holder.once("connection", (socket) => {
      socket.on("error", () => {});
      socket.once("data", () => resolve(socket));
    });
  });
  return { url: `http://127.0.0.1:${(holder.address() as { port: number }).port}/`, arrived };
}

/** A dev server in the middle of a delivery. */
async function startHeldUp(folder: string) {
  const running = posthorn(folder, ["dev"]);
  await running.said(/Ctrl\+C stops/);
  const [, api = ""] = await running.said(/API {9}(\S+)/);
  const [, key = ""] = await running.said(/Admin key {3}(\S+)/);
  const holder = await startHolder();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const post = (path: string, body: object) =>
    fetch(api + path, { method: "POST", headers, body: JSON.stringify(body) });
  await post("/tenants/demo/endpoints", { url: holder.url, events: ["held.up"] });
  await post("/events", { tenant: "demo", type: "held.up", data: 1 });
  const receiver = await holder.arrived;
  return { running, url: api.replace("/api/v1", ""), post, receiver };
}

async function get(url: string, key: string): Promise<{ data: Record<string, unknown>[] }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  return (await response.json()) as { data: Record<string, unknown>[] };
}

test("dev delivers a first event, and what it prints to paste works; a restart changes nothing", async () => {
  const folder = makeDataDir();
  const first = posthorn(folder, ["dev"]);
  await first.said(/Ctrl\+C stops/);
  const [, key = ""] = await first.said(/Admin key {3}(phk_[A-Za-z0-9_-]{43})\n/);
  const [, api = ""] = await first.said(/API {9}(\S+)/);
  expect(first.output()).toMatch(/Delivered evt_\S+ \(webhook.test\) to the built-in sink/);
  expect(first.output()).toMatch(/x-webhook-signature: t=\d+,v1=[0-9a-f]{64}/);
  expect(first.output()).toMatch(/webhook-signature: v1,/);
  const [, body = ""] = await first.said(/-d '(.*)'/);
  const published = await fetch(`${api}/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  expect([published.status, await published.json()]).toEqual([
    202,
    expect.objectContaining({ deliveries: 1 }),
  ]);
  const [, code = ""] = await first.said(/Dashboard {3}http:\/\/127\.0\.0\.1:\d+\/first-run#code=(phl_\S+)/);
  const signIn = async () => {
    const headers = { "posthorn-dashboard": "1", "content-type": "application/json" };
    const response = await fetch(`${api}/session`, {
      method: "POST",
      headers,
      body: JSON.stringify({ code }),
    });
    return response.status;
  };
  expect([await signIn(), await signIn()]).toEqual([201, 401]);
  expect(statSync(join(folder, "data", "admin-key")).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "data", "encryption-keys")).mode & 0o777).toBe(0o600);
  expect(await first.stop()).toBe(0);

  const second = posthorn(folder, ["dev"]);
  await second.said(/Delivered evt_/);
  expect((await second.said(/Admin key {3}(\S+)/))[1]).toBe(key);
  // somebody has published by now
  await second.said(/Dashboard {3}http:\/\/127\.0\.0\.1:\d+\/#code=phl_\S+/);
  const [, again = ""] = await second.said(/API {9}(\S+)/);
  expect((await get(`${again}/tenants`, key)).data).toHaveLength(1);
  expect((await get(`${again}/tenants/demo/endpoints`, key)).data).toHaveLength(1);
  expect(await second.stop()).toBe(0);
});

test.skipIf(isQuick)(
  "serve prints a made admin key and a link into the dashboard once, and never again",
  async () => {
    const folder = makeDataDir();
    const first = posthorn(folder, ["serve"]);
    const [, key = ""] = await first.said(/Admin key \(shown only once\): (phk_\S{43})\n/);
    const [, url = ""] = await first.said(/"message":"ready","url":"([^"]+)"/);
    await get(`${url}/api/v1/events`, key);
    expect((await fetch(`${url}/sink/x`, { method: "POST" })).status).toBe(404);
    expect(first.output()).toContain(`${url}/first-run#code=phl_`);
    expect(await first.stop()).toBe(0);
    const second = posthorn(folder, ["serve"]);
    const [, next = ""] = await second.said(/"message":"ready","url":"([^"]+)"/);
    await get(`${next}/api/v1/events`, key);
    expect(second.output()).not.toMatch(/ph[kl]_/);
    expect(await second.stop()).toBe(0);
  },
);

test.skipIf(isQuick)(
  "an API process and a worker share one database; the worker shows only its health",
  async () => {
    const folder = makeDataDir();
    const env = {
      POSTHORN_ADMIN_KEY: "k".repeat(40),
      POSTHORN_SINK: "true",
      POSTHORN_ALLOW_HTTP: "true",
      POSTHORN_ALLOW_CIDRS: "127.0.0.0/8",
    };
    const api = posthorn(folder, ["serve", "--role", "api"], env);
    const [, url = ""] = await api.said(/"message":"ready","url":"([^"]+)"/);
    const worker = posthorn(folder, ["serve", "--role", "worker"], env);
    const [, health = ""] = await worker.said(/"message":"ready","url":"([^"]+)"/);
    expect((await fetch(`${health}/readyz`)).status).toBe(200);
    expect((await fetch(`${health}/api/v1/events`)).status).toBe(404);
    const call = (method: string, path: string, body: object) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${env.POSTHORN_ADMIN_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await call("PUT", "/api/v1/tenants/acme", {});
    await call("POST", "/api/v1/tenants/acme/endpoints", { url: `${url}/sink/acme`, events: ["*"] });
    await call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: 1 });
    await expect
      .poll(async () => (await get(`${url}/sink/acme/requests`, env.POSTHORN_ADMIN_KEY)).data.length, {
        timeout: 20_000,
      })
      .toBe(1);
    expect([await worker.stop(), await api.stop()]).toEqual([0, 0]);
  },
);

test.skipIf(isQuick)(
  "another encryption key stops the start, says to copy the right one, and leaves none behind",
  async () => {
    const folder = makeDataDir();
    const first = posthorn(folder, ["serve"]);
    await first.said(/"message":"ready"/);
    await first.stop();
    const keyFile = join(folder, "data", "encryption-keys");
    const original = readFileSync(keyFile, "utf8");
    rmSync(keyFile);
    const second = posthorn(folder, ["serve"]);
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(/encrypted with the key "k1", which is not available here. Copy it/);
    expect(existsSync(keyFile)).toBe(false);
    const third = posthorn(folder, ["serve"], { POSTHORN_ENCRYPTION_KEYS: original.trim() });
    await third.said(/"message":"ready"/);
    expect(await third.stop()).toBe(0);
  },
);

test.skipIf(isQuick)("migrate shows what is pending, applies it, and has nothing to do after", async () => {
  const folder = makeDataDir();
  const run = async (...args: string[]): Promise<string> => {
    const running = posthorn(folder, ["migrate", ...args], { LOG_LEVEL: "error" });
    expect([await running.exited, running.output()]).toEqual([0, expect.any(String)]);
    return running.output();
  };
  expect(await run("--status")).toMatch(/at version 0\. Run `posthorn migrate`/);
  expect(await run("--dry-run")).toMatch(/create schema/);
  expect(JSON.parse(await run("--status", "--json"))).toMatchObject({ version: 0 });
  expect(await run()).toMatch(/applied {2}0001/);
  expect(await run()).toMatch(/Nothing to do/);
  const unmigrated = posthorn(makeDataDir(), ["serve"], { POSTHORN_MIGRATE: "check" });
  expect(await unmigrated.exited).toBe(1);
  expect(unmigrated.output()).toMatch(/Run `posthorn migrate`, or set POSTHORN_MIGRATE=auto/);
});

test.skipIf(isQuick)(
  "a setting that cannot be used stops the start with a sentence, not a stack",
  async () => {
    const folder = makeDataDir();
    for (const [env, message] of [
      [{ POSTHORN_CONCURENCY: "5" }, "Did you mean POSTHORN_CONCURRENCY?"],
      [{ PORT: "x" }, "PORT must be a whole number"],
      [{ POSTHORN_RETRY_POLICY: "often" }, "POSTHORN_RETRY_POLICY"],
      [{ POSTHORN_SIGNATURE_SCHEMES: "md5" }, "md5"],
      [{ POSTHORN_HEADER_PREFIX: "X-" }, "POSTHORN_HEADER_PREFIX"],
    ] as const) {
      const running = posthorn(folder, ["serve"], env as unknown as Record<string, string>);
      expect(await running.exited).toBe(1);
      expect(running.output()).toContain(message);
      expect(running.output()).not.toMatch(/\n {4}at /);
    }
  },
);

test.skipIf(isQuick).each(["dev", "serve"])(
  "%s on a taken port says so before it makes anything",
  async (command) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const folder = makeDataDir();
    const running = posthorn(folder, [command, "--port", String(port)]);
    expect(await running.exited).toBe(1);
    expect(running.output()).toContain(`Port ${port} on 127.0.0.1 is in use.`);
    expect(running.output()).not.toMatch(/admin key/i);
    expect(existsSync(join(folder, "admin-key"))).toBe(false);
  },
);

test.skipIf(isQuick)(
  "while it stops it says that it is not ready, takes no events, and finishes what is in flight",
  async () => {
    const folder = makeDataDir();
    const { running, url, post, receiver } = await startHeldUp(folder);
    running.signal("SIGTERM");
    await running.said(/send the signal again to stop at once/);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const refused = await post("/events", { tenant: "demo", type: "order.paid", data: 1 });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await refused.json()).toMatchObject({ code: "shutting_down" });
    receiver.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    expect(await running.exited).toBe(0);
    expect(running.output().trimEnd().split("\n").at(-1)).toContain('"message":"stopped"');
    expect(postmasterPid(join(folder, "data"))).toBeNull();
  },
);

test.skipIf(isQuick)("a later signal ends it at once, but not without its database", async () => {
  const folder = makeDataDir();
  const { running } = await startHeldUp(folder);
  running.signal("SIGTERM");
  await running.said(/send the signal again to stop at once/);
  // Again and again, as an impatient person does: what comes within the first second is taken for an echo.
  const again = setInterval(() => running.signal("SIGINT"), 50);
  onTestFinished(() => clearInterval(again));
  expect(await running.exited).toBe(1);
  expect(running.output()).toMatch(/stopped at once/);
  expect(postmasterPid(join(folder, "data"))).toBeNull();
  expect(await posthorn(folder, ["migrate", "--status"]).exited).toBe(0);
});

test.skipIf(isQuick).each(["SIGINT", "SIGTERM"] as const)(
  "%s to all of npm start, as Ctrl+C and timeout send it, stops in order and leaves no database behind",
  async (signal) => {
    const folder = makeDataDir();
    const running = run(["npm", "start"], root, folder, { HOME: process.env.HOME ?? folder });
    await running.said(/Ctrl\+C stops/);
    expect(postmasterPid(join(folder, "data"))).not.toBeNull();
    running.signalGroup(signal);
    await running.exited;
    expect(running.output()).toContain('"message":"stopped"');
    expect(running.output()).not.toContain("stopped at once");
    expect(postmasterPid(join(folder, "data"))).toBeNull();
  },
);

test.skipIf(isQuick)("a signal in the middle of the start leaves no database behind", async () => {
  const folder = makeDataDir();
  const running = posthorn(folder, ["dev"]);
  const made = join(folder, "data/postgres/data");
  await eventually("the data directory exists", () => existsSync(made));
  running.signal("SIGTERM");
  expect(await running.exited).toBe(0);
  expect(postmasterPid(join(folder, "data"))).toBeNull();
});

test.skipIf(isQuick)(
  "an embedded database that is killed is started again, and deliveries go on",
  async () => {
    const folder = makeDataDir();
    const running = posthorn(folder, ["dev"]);
    await running.said(/Ctrl\+C stops/);
    const [, api = ""] = await running.said(/API {9}(\S+)/);
    const [, key = ""] = await running.said(/Admin key {3}(\S+)/);
    process.kill(Number(postmasterPid(join(folder, "data"))), "SIGKILL");
    await running.said(/the embedded PostgreSQL is running again/);
    const publish = async (): Promise<unknown> => {
      const response = await fetch(`${api}/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: '{"tenant":"demo","type":"after.kill","data":1,"idempotency_key":"one"}',
      });
      return response.status;
    };
    await expect.poll(publish, { timeout: 20_000 }).toBe(202);
    await expect
      .poll(async () => (await get(`${api}/deliveries?type=after.kill&state=success`, key)).data.length, {
        timeout: 30_000,
      })
      .toBe(1);
    await expect
      .poll(async () => (await fetch(api.replace("/api/v1", "/readyz"))).status, { timeout: 20_000 })
      .toBe(200);
    expect(running.output().match(/has stopped, restarting it/g)).toHaveLength(1);
    expect(await running.stop()).toBe(0);
    expect(postmasterPid(join(folder, "data"))).toBeNull();
  },
);

test.skipIf(isQuick)(
  "a schema that is missing, and a data directory that cannot be used, are said in words",
  async () => {
    const folder = makeDataDir();
    const unmigrated = posthorn(folder, ["serve", "--role", "worker"], { POSTHORN_MIGRATE: "off" });
    expect(await unmigrated.exited).toBe(1);
    expect(unmigrated.output()).toMatch(
      /The schema "posthorn" does not exist in this database. Run `posthorn migrate`/,
    );
    writeFileSync(join(folder, "file"), "");
    const unusable = posthorn(folder, ["dev"], { POSTHORN_DATA_DIR: join(folder, "file") });
    expect(await unusable.exited).toBe(1);
    expect(unusable.output()).toMatch(
      /The key file \S+ cannot be read or written .* or set POSTHORN_DATA_DIR/,
    );
    for (const { output } of [unmigrated, unusable]) expect(output()).not.toMatch(/\n {4}at |unexpectedly/);
  },
);
