// The examples of the receiver's frameworks, run as they stand, and the page that shows them.

import { readdirSync, readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createSender, type SenderOptions } from "@posthorn/receiver/testing";
import { generateSecret } from "@posthorn/wire";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

const folder = new URL("../../examples/receiver/", import.meta.url);
const secret = generateSecret();
const order = { type: "order.paid", data: { total: 12 } };
const servers: Server[] = [];

beforeAll(() => {
  process.env.WEBHOOK_SECRET = secret;
  vi.spyOn(console, "log").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

test.each<[name: string, receive: () => Promise<SenderOptions["receive"]>]>([
  ["serve-fetch", async () => (await import("../../examples/receiver/serve-fetch.ts")).default.fetch],
  ["next-app", async () => (await import("../../examples/receiver/next-app.ts")).POST],
  ["hono", async () => (await import("../../examples/receiver/hono.ts")).app.fetch],
  ["node", async () => serving((await import("../../examples/receiver/node.ts")).server)],
  ["express", async () => serving(createServer((await import("../../examples/receiver/express.ts")).app))],
  [
    "fastify",
    async () => {
      const { app } = await import("../../examples/receiver/fastify.ts");
      await app.ready();
      return serving(createServer((request, response) => app.routing(request, response)));
    },
  ],
  ["koa", async () => serving(createServer((await import("../../examples/receiver/koa.ts")).app.callback()))],
  [
    "nestjs",
    async () => {
      const { app } = await import("../../examples/receiver/nestjs.ts");
      await app.init();
      return serving(createServer(app.getHttpAdapter().getInstance() as RequestListener));
    },
  ],
  [
    "next-pages",
    async () => serving(createServer((await import("../../examples/receiver/next-pages.ts")).default)),
  ],
  [
    "lambda",
    async () => {
      const { handler } = await import("../../examples/receiver/lambda.ts");
      return async (request) => {
        const { pathname, host } = new URL(request.url);
        const result = await handler({
          rawPath: pathname,
          rawQueryString: "",
          headers: Object.fromEntries(request.headers),
          requestContext: { domainName: host, http: { method: request.method } },
          body: await request.text(),
          isBase64Encoded: false,
        });
        return new Response(result.body, { status: result.statusCode, headers: result.headers });
      };
    },
  ],
])("%s.ts handles an order, knows it again, and refuses one that was changed", async (_name, receive) => {
  const sender = createSender({ secret, receive: await receive() });
  const [first, second] = await sender.duplicate(order);
  expect(first).toMatchObject({ status: 200, isDuplicate: false });
  expect(second).toMatchObject({ status: 200, isDuplicate: true });
  expect((await sender.tamper(order)).status).toBe(401);
});

test("in-your-tests.ts passes", async () => {
  const examples = await import("../../examples/receiver/in-your-tests.ts");
  for (const example of Object.values(examples)) await example();
});

test("the page shows every example as it is run", () => {
  const page = readFileSync(new URL("../../docs/reference/receiver-adapters.md", import.meta.url), "utf8");
  for (const file of readdirSync(folder)) {
    const source = readFileSync(new URL(file, folder), "utf8");
    expect(page, file).toContain(source.slice(source.indexOf("import")).trim());
  }
});

/** Sends over a connection what the sender made. */
async function serving(server: Server): Promise<SenderOptions["receive"]> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  return (request) => fetch(new Request(url, request));
}
