import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { sendReply } from "./reply.ts";

/** More than the buffers of both ends of a connection take. */
const body = "x".repeat(32 * 1024 * 1024);

/** A server that answers with all that, and a client that has asked and reads nothing yet. */
async function ask(timeoutMs: number): Promise<{ socket: Socket; response: ServerResponse }> {
  const server = createServer();
  const asked = new Promise<ServerResponse>((resolve) =>
    server.once("request", (_request, response) => resolve(response)),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const response = await asked;
  sendReply(response, { status: 200, body }, "req_1", timeoutMs);
  return { socket, response };
}

test("the connection of a client that does not read its response is closed", async () => {
  const { response } = await ask(100);
  await new Promise((resolve) => response.once("close", resolve));
  expect([response.writableFinished, response.destroyed]).toEqual([false, true]);
});

test("a client that reads slowly gets all of it, though it takes longer than one that reads nothing has", async () => {
  const timeoutMs = 600;
  const { socket } = await ask(timeoutMs);
  const beganAt = performance.now();
  let bytes = 0;
  let sincePause = 0;
  socket.on("data", (part) => {
    bytes += part.length;
    sincePause += part.length;
    if (bytes >= body.length) socket.emit("whole");
    if (sincePause < 2 * 1024 * 1024) return;
    sincePause = 0;
    socket.pause();
    setTimeout(() => socket.resume(), 60);
  });
  await new Promise((resolve) => socket.once("whole", resolve).once("close", resolve).resume());
  expect(bytes).toBeGreaterThan(body.length);
  expect(performance.now() - beganAt).toBeGreaterThan(timeoutMs);
});
