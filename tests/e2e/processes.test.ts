// `posthorn serve --processes` as people run it: a primary and its children, built, with the embedded database.
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processCount } from "../../packages/server/src/processes/process-count.ts";
import { postmasterPid } from "../support/database/own-postgres.ts";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { isQuick } from "../support/matrix.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { makeDataDir, posthorn } from "./posthorn-process.ts";
import { call, isRunning, type Line, published, settings, startProcesses } from "./server-processes.ts";

test("processes share the port, the metrics and the sink, and stop together", async () => {
  const server = await startProcesses(2, { LOG_LEVEL: "debug", POSTHORN_SINK: "true" });
  await server.createEndpoint(`${server.url}/sink/acme`);
  for (let event = 0; event < 20; event += 1) expect((await server.publish(event)).status).toBe(202);
  expect(new Set(server.lines("request").map(({ process }) => process))).toEqual(new Set([1, 2]));
  // whichever process responds: connections are handed out in turn
  for (let reading = 0; reading < 4; reading += 1) {
    const recorded = async () => (await call(`${server.url}/sink/acme/requests`)).json.data;
    await expect.poll(recorded).toHaveLength(20);
    expect(await server.metric(published)).toBe(20);
    expect(await server.metric("webhook_workers")).toBe(2);
    expect((await call(`${server.url}/readyz`)).status).toBe(200);
  }
  expect(await server.running.stop()).toBe(0);
  expect(server.lines("stopped").map(({ process }) => process)).toEqual([
    expect.any(Number),
    expect.any(Number),
    undefined,
  ]);
  expect(postmasterPid(join(server.folder, "data"))).toBeNull();
});

test.skipIf(isQuick)(
  "a process killed under load is restarted; nothing is lost, and no counter decreases",
  async () => {
    const server = await startProcesses(3);
    const receiver = await startReceiver();
    await server.createEndpoint(receiver.url);
    const accepted = new Set<number>();
    let next = 0;
    let isOver = false;
    const publishing = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const event = next;
        next += 1;
        // a client repeats a request whose connection was lost
        await eventually("the event is accepted", async () => (await server.publish(event)).status === 202);
        accepted.add(event);
      }
    });
    await expect.poll(() => accepted.size).toBeGreaterThan(100);
    const counted = [await server.metric(published)];
    for (const { process: number, pid } of server.started().slice(0, 2)) {
      process.kill(pid, "SIGKILL");
      await eventually("it is restarted", async () => {
        counted.push(await server.metric(published));
        return server.started().some((line) => line.process === number && line.pid !== pid && line);
      });
    }
    const before = accepted.size;
    await expect.poll(() => accepted.size).toBeGreaterThan(before + 100);
    isOver = true;
    await Promise.all(publishing);
    const missing = () => {
      const received = new Set(receiver.requests.map(({ body }) => JSON.parse(String(body)).data));
      return [...accepted].filter((event) => !received.has(event));
    };
    await expect.poll(missing).toEqual([]);
    counted.push(await server.metric(published));
    expect(counted).toEqual(counted.toSorted((a, b) => a - b));
    await expect.poll(() => server.metric("webhook_queue_depth")).toBe(0);
    expect(server.lines("a server process has ended unexpectedly and is started again")).toHaveLength(2);
    expect(await server.running.stop()).toBe(0);
  },
);

/** Two processes, of which one has an attempt in flight. */
async function startWithAttempt() {
  const server = await startProcesses(2);
  const { opened, open: respond } = gate();
  const receiver = await startReceiver({ until: opened });
  await server.createEndpoint(receiver.url);
  await server.publish(1);
  await receiver.received(1);
  return { server, respond };
}

test.skipIf(isQuick)("on a signal every process finishes its attempts in flight", async () => {
  const { server, respond } = await startWithAttempt();
  // enough callers that connections wait for a process while the one without attempts exits
  const statuses = new Set<number>();
  const calling = Array.from({ length: 24 }, async () => {
    while (server.lines("stopped").length === 0) statuses.add((await call(`${server.url}/readyz`)).status);
  });
  // as a terminal does: the primary and its children get the signal
  server.running.signalGroup("SIGINT");
  await Promise.all(calling);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(await server.publish(2)).toMatchObject({ status: 503, json: { code: "shutting_down" } });
  expect((await call(`${server.url}/readyz`)).status).toBe(503);
  respond();
  expect(await server.running.exited).toBe(0);
  expect(server.started()).toHaveLength(2);
  expect(server.running.output().trimEnd().split("\n").at(-1)).toMatch(/"message":"stopped"}$/);
  expect(postmasterPid(join(server.folder, "data"))).toBeNull();
});

test.skipIf(isQuick)("a later signal stops all processes at once", async () => {
  const { server } = await startWithAttempt();
  server.running.signal("SIGTERM");
  await server.running.printed(/"stopping;/);
  await eventually("it stops at once", () => {
    server.running.signal("SIGTERM");
    return server.running.output().includes("stopped at once");
  });
  expect(await server.running.exited).toBe(1);
  expect(server.started().filter(({ pid }) => isRunning(pid))).toEqual([]);
  expect(postmasterPid(join(server.folder, "data"))).toBeNull();
});

test.skipIf(isQuick)("children of a killed primary drain and exit, and the port is free", async () => {
  const { server, respond } = await startWithAttempt();
  server.running.signal("SIGKILL");
  await eventually("both notice", () => server.lines("the primary process has ended").length === 2 || null);
  const refused = () => call(`${server.url}/readyz`).catch(({ code }) => code === "ECONNREFUSED");
  await eventually("the port is free", async () => (await refused()) === true);
  respond();
  await server.running.exited;
  expect(server.lines("stopped")).toHaveLength(2);
  // the next start uses the database that still runs, and there is nothing left to send
  const port = new URL(server.url).port;
  const next = await startProcesses(2, { PORT: port }, server.folder);
  expect(await next.metric("webhook_queue_depth")).toBe(0);
  const { json } = await call(`${next.url}/api/v1/deliveries?state=success`);
  expect(json.data).toHaveLength(1);
  expect(await next.running.stop()).toBe(0);
  expect(postmasterPid(join(server.folder, "data"))).toBeNull();
});

test.skipIf(isQuick)(
  "a frozen process delays only its own connections, and killed it closes them",
  async () => {
    const server = await startProcesses(2);
    const { hostname, port } = new URL(server.url);
    const [frozen] = server.started() as [Line];
    process.kill(frozen.pid, "SIGSTOP");
    const answered: Socket[] = [];
    const ended: Socket[] = [];
    const sockets = Array.from({ length: 4 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on("connect", () => socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      socket.on("data", () => answered.push(socket));
      socket.on("error", () => {});
      socket.on("close", () => ended.push(socket));
      onTestFinished(() => void socket.destroy());
      return socket;
    });
    await eventually("the other process responds", () => answered.length === 3);
    // a second is how long the metrics wait for a process that does not respond
    expect(await server.metric("webhook_workers")).toBeGreaterThan(0);
    process.kill(frozen.pid, "SIGKILL");
    await eventually("the connection is closed", () => ended.length === 1);
    expect(answered.includes(ended[0] as Socket)).toBe(false);
    for (const socket of sockets) socket.destroy();
    expect(await server.running.stop()).toBe(0);
  },
);

test.skipIf(isQuick)(
  "the first start prints one key and one link, which work in every process once",
  async () => {
    const running = posthorn(makeDataDir(), ["serve", "--processes", "2"]);
    const [, url = ""] = await running.printed(/"message":"ready","url":"([^"]+)"/);
    expect(running.output().match(/Admin key \(shown only once\): phk_/g)).toHaveLength(1);
    const codes = [...running.output().matchAll(/first-run#code=(phl_\S+)/g)].map(([, code]) => code);
    expect(codes).toHaveLength(1);
    const headers = { "posthorn-dashboard": "1", "content-type": "application/json" };
    const signIn = async () => {
      const body = JSON.stringify({ code: codes[0] });
      const response = await fetch(`${url}/api/v1/session`, { method: "POST", headers, body });
      const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
      return { status: response.status, cookie };
    };
    const opened = await Promise.all([signIn(), signIn(), signIn(), signIn()]);
    expect(opened.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
    const { cookie = "" } = opened.find(({ status }) => status === 201) ?? {};
    const read = () => call(`${url}/api/v1/session`, "GET", undefined, { cookie, "posthorn-dashboard": "1" });
    expect((await Promise.all([read(), read(), read()])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
    expect(await running.stop()).toBe(0);
  },
);

test.skipIf(isQuick)("auto starts one process fewer than there are cores", async () => {
  const running = posthorn(makeDataDir(), ["serve", "--processes", "auto"], settings);
  const [line] = await running.printed(/\{[^\n]*"message":"ready"[^\n]*/);
  expect(JSON.parse(line).processes ?? 1).toBe(processCount("auto"));
  expect(await running.stop()).toBe(0);
});

test.skipIf(isQuick)("children that cannot start end the primary with their error", async () => {
  const folder = makeDataDir();
  const failing = `import cluster from "node:cluster"; if (cluster.isWorker) { console.error("broken"); process.exit(3); }`;
  const running = posthorn(folder, ["serve", "--processes", "2"], {
    ...settings,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(failing)}`,
  });
  expect(await running.exited).toBe(1);
  expect(running.output()).toContain(
    "The server processes cannot start: 5 starts in a row have failed. The last one: It ended with exit code 3; see its output above.",
  );
  expect(running.output().match(/^broken$/gm)?.length).toBeGreaterThanOrEqual(5);
  expect(postmasterPid(join(folder, "data"))).toBeNull();
});

test.skipIf(isQuick)("workers of several processes share their health page", async () => {
  const folder = makeDataDir();
  const running = posthorn(folder, ["serve", "--role", "worker", "--processes", "2"], settings);
  const [, url = ""] = await running.printed(/"message":"ready","url":"([^"]+)"/);
  for (let request = 0; request < 2; request += 1) {
    expect((await call(`${url}/readyz`)).status).toBe(200);
    expect((await call(`${url}/metrics`)).text).toMatch(/^webhook_workers 2$/m);
    expect((await call(`${url}/api/v1/events`)).status).toBe(404);
  }
  expect(await running.stop()).toBe(0);
});
