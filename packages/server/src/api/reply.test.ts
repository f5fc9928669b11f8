import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../../tests/support/servers/http.ts";
import { sendReply } from "./reply.ts";

/** Larger than the buffers of both ends of a connection. */
const body = "x".repeat(32 * 1024 * 1024);

/** A server that sends the body, and a client that does not read yet. */
async function ask(timeoutMs: number): Promise<{ socket: Socket; response: ServerResponse }> {
  const server = createServer();
  const { hostname, port } = new URL(await listen(server));
  const socket = connect(Number(port), hostname).pause();
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  sendReply(response, { status: 200, body }, "req_1", timeoutMs);
  return { socket, response };
}

test("the connection of a client that does not read its response is closed", async () => {
  const { response } = await ask(100);
  await new Promise((resolve) => response.once("close", resolve));
  expect([response.writableFinished, response.destroyed]).toEqual([false, true]);
});

test("a client that reads slowly gets the whole body, even if it takes longer than the timeout", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { socket, response } = await ask(1_000);
  let passedMs = 0;
  response.on("drain", () => {
    passedMs += 999;
    vi.advanceTimersByTime(999);
  });
  let bytes = 0;
  socket.on("data", (part) => {
    bytes += part.length;
    if (bytes > body.length) socket.emit("whole");
  });
  await new Promise((resolve) => socket.once("whole", resolve).once("close", resolve).resume());
  expect(bytes).toBeGreaterThan(body.length);
  expect(passedMs).toBeGreaterThan(1_000);
});
