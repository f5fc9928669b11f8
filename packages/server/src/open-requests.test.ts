import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../tests/support/servers/http.ts";
import { OpenRequests } from "./open-requests.ts";

const NEVER_MS = 60_000;

/** Three requests on one connection: the first is not answered, so the others wait behind it. */
async function threeInARow(exchanges: OpenRequests) {
  const given: { request: IncomingMessage; response: ServerResponse }[] = [];
  const server = createServer((request, response) => {
    exchanges.add({ request, response });
    if (given.push({ request, response }) > 1) response.end("later");
    if (given.length === 3) server.emit("all");
  });
  const { hostname, port } = new URL(await listen(server));
  const client = connect(Number(port), hostname).on("error", () => {});
  onTestFinished(() => void client.destroy());
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
  await once(server, "all");
  return { client, given };
}

test("a lost connection also ends pipelined requests", async () => {
  const exchanges = new OpenRequests();
  const { client } = await threeInARow(exchanges);
  const ended = exchanges.ended(NEVER_MS);
  client.destroy();
  await ended;
});

test("waits only for open requests, up to the time limit", async () => {
  const exchanges = new OpenRequests();
  const { client, given } = await threeInARow(exchanges);
  const before = performance.now();
  await exchanges.ended(20);
  expect(performance.now() - before).toBeGreaterThan(18);
  client.resume();
  given[0]?.response.end("first");
  await exchanges.ended(NEVER_MS);
  await exchanges.ended(NEVER_MS);
});
