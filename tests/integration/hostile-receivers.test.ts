// Hostile receivers: only their own attempts fail.
import { execFile } from "node:child_process";
import { createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { databasePerTest } from "../support/database/database-per-test.ts";
import { isQuick } from "../support/matrix.ts";
import { listen } from "../support/servers/dispatcher.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import type { SenderReport } from "./hostile-sender.ts";

const ok = "HTTP/1.1 200 OK\r\n";

/** The behaviour of the receiver at each path. packages/posthorn/src/attempt/dispatcher.test.ts has their outcomes. */
const hostilities = {
  ok: say(`${ok}content-length: 0\r\n\r\n`),
  silent: () => {},
  "header-drip": (socket) => drip(socket, ok, "x-a: b\r\n"),
  "body-drip": (socket) => drip(socket, `${ok}content-length: 1000000\r\n\r\n`, "."),
  "header-flood": pour(ok, "x-a: b\r\n"),
  // stays below the limit and then holds the connection
  "header-hoard": say(ok + "a:\r\n".repeat(8_000)),
  "informational-flood": pour("", "HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"),
  "endless-body": pour(`${ok}\r\n`, "x".repeat(1_000)),
  "endless-chunks": pour(`${ok}transfer-encoding: chunked\r\n\r\n`, `3e8\r\n${"x".repeat(1_000)}\r\n`),
  bomb: (socket) => {
    socket.write(`${ok}content-encoding: gzip\r\nconnection: close\r\n\r\n`);
    socket.end(gzipSync(Buffer.alloc(20_000_000)));
  },
} satisfies Record<string, (socket: Socket) => void>;

type HostilePath = keyof typeof hostilities;

/** Raw sockets, because no HTTP server would send such responses. */
async function startHostileServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      const [, path] = /^POST \/(\S*) /.exec(chunk.toString("latin1")) ?? [];
      if (path !== undefined) hostilities[path as HostilePath](socket);
    });
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, sockets };
}

function say(text: string): (socket: Socket) => void {
  return (socket) => void socket.write(text);
}

function drip(socket: Socket, start: string, drop: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(drop), 10);
  socket.on("close", () => clearInterval(timer));
}

/** Writes as fast as the sender reads, without end. */
function pour(start: string, again: string): (socket: Socket) => void {
  const block = Buffer.from(again.repeat(Math.ceil(65_536 / again.length)));
  return (socket) => {
    const write = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.write(start);
    socket.on("drain", write);
    write();
  };
}

const world = databasePerTest();

test("deliveries to a healthy endpoint continue while hostile ones hold all the connections they can", async () => {
  const [instance, hostile, healthy] = [
    await world.open(),
    await startHostileServer(),
    await startReceiver(),
  ];
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
  await expect.poll(() => hostile.sockets.size).toBe(paths.length * 5);
});

test.skipIf(isQuick)(
  "hundreds of hostile connections use a bounded amount of memory, and other requests get responses",
  async () => {
    const hostile = await startHostileServer();
    // Endless responses have a long deadline: they end because a limit is reached, or this test times out.
    const pouring: HostilePath[] = ["endless-body", "endless-chunks", "header-flood", "informational-flood"];
    // The others hold their connections until the deadline; two of them have to return a status before it.
    const targets = [
      ...pouring.map((path) => `${path}:600000`),
      "header-hoard:2000",
      "body-drip:10000",
      "bomb:40000",
    ];
    const child = fileURLToPath(new URL("./hostile-sender.ts", import.meta.url));
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
