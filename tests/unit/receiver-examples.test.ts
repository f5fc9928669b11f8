// The examples of the receiver that need no database; the others are in tests/integration.
import { createHmac } from "node:crypto";
import type { RequestListener } from "node:http";
import { Logger } from "@nestjs/common";
import { createSender, type SenderOptions, signedRequest } from "@posthorn/receiver/testing";
import { generateSecret } from "@posthorn/wire";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { serving } from "../support/servers/http.ts";

const [secret, nextSecret] = [generateSecret(), generateSecret()];
const order = { type: "order.paid", data: { total: 12 } };
/** A framework is loaded by the first test that needs it, which takes seconds on a busy machine. */
const LOADING_MS = 30_000;

beforeAll(() => {
  for (const name of ["WEBHOOK_SECRET", "STRIPE_SECRET"]) process.env[name] = secret;
  process.env.WEBHOOK_SECRET_NEXT = nextSecret;
  process.env.STRIPE_CONNECT_SECRET = nextSecret;
  for (const name of ["GITHUB_SECRET", "SHOP_SECRET", "JOBS_SECRET", "METER_TOKEN"]) {
    process.env[name] = "It's a Secret to Everybody";
  }
  process.env.MAIL_SECRET = Buffer.from("It's a Secret to Everybody").toString("base64");
  Logger.overrideLogger(false);
  vi.spyOn(console, "log").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
});

test.each<[name: string, receive: () => Promise<SenderOptions["receive"]>]>([
  ["serve-fetch", async () => (await import("../../examples/receiver/serve-fetch.ts")).default.fetch],
  ["hono", async () => (await import("../../examples/receiver/hono.ts")).app.fetch],
  ["node", async () => serving((await import("../../examples/receiver/node.ts")).server)],
  ["express", async () => serving((await import("../../examples/receiver/express.ts")).app)],
  [
    "fastify",
    async () => {
      const { app } = await import("../../examples/receiver/fastify.ts");
      await app.ready();
      return serving((request, response) => app.routing(request, response));
    },
  ],
  ["koa", async () => serving((await import("../../examples/receiver/koa.ts")).app.callback())],
  [
    "nestjs",
    async () => {
      const { app } = await import("../../examples/receiver/nestjs.ts");
      await app.init();
      return serving(app.getHttpAdapter().getInstance() as RequestListener);
    },
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
])(
  "%s.ts handles an order, detects a duplicate, and rejects a changed one",
  async (_name, receive) => {
    const sender = createSender({ secret, receive: await receive() });
    const [first, second] = await sender.duplicate(order);
    expect(first).toMatchObject({ status: 200, isDuplicate: false });
    expect(second).toMatchObject({ status: 200, isDuplicate: true });
    expect((await sender.tamper(order)).status).toBe(401);
  },
  LOADING_MS,
);

test("metrics.ts serves the number of dead letters", async () => {
  const { server } = await import("../../examples/receiver/metrics.ts");
  const response = await (await serving(server))(new Request("http://localhost/metrics"));
  expect(await response.text()).toMatch(/^webhook_receiver_dead_letters 0$/m);
});

test("response-bodies.ts responds with ok, then duplicate", async () => {
  const { receiver } = await import("../../examples/receiver/response-bodies.ts");
  const request = await signedRequest({ secret, ...order });
  const bodies = [await receiver.fetch(request.clone()), await receiver.fetch(request)];
  expect(await Promise.all(bodies.map((response) => response.json()))).toEqual([
    { status: "ok" },
    { status: "duplicate" },
  ]);
});

test("in-your-tests.ts and test-clock.ts pass", async () => {
  const tests = {
    ...(await import("../../examples/receiver/in-your-tests.ts")),
    ...(await import("../../examples/receiver/test-clock.ts")),
  };
  for (const passes of Object.values(tests)) await passes();
});

test("rotation.ts accepts the current and the next secret", async () => {
  const { receiver } = await import("../../examples/receiver/rotation.ts");
  const statusOf = async (signing: string) =>
    (await receiver.fetch(await signedRequest({ secret: signing, ...order }))).status;
  expect(await statusOf(secret)).toBe(200);
  expect(await statusOf(nextSecret)).toBe(200);
  expect(await statusOf(generateSecret())).toBe(401);
});

test("rotation.ts starts with an empty variable for the next secret", async () => {
  vi.resetModules();
  vi.stubEnv("WEBHOOK_SECRET_NEXT", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { receiver } = await import("../../examples/receiver/rotation.ts");
  expect((await receiver.fetch(await signedRequest({ secret, ...order }))).status).toBe(200);
});

test("several-senders.ts distinguishes senders, even two accounts of one", async () => {
  const { receiver } = await import("../../examples/receiver/several-senders.ts");
  const seen: unknown[] = [];
  vi.mocked(console.log).mockImplementation((text) => void seen.push(text));
  const invoice = { vendor: "stripe", payload: { id: "evt_1", type: "invoice.paid", data: {} } } as const;
  await receiver.fetch(await signedRequest({ secret, ...invoice }));
  await receiver.fetch(await signedRequest({ secret: nextSecret, ...invoice }));
  await receiver.fetch(await signedRequest({ secret, type: "order.paid" }));
  const push = { vendor: "github", payload: {}, type: "push", secret: "It's a Secret to Everybody" } as const;
  for (const id of ["1", "2"]) await receiver.fetch(await signedRequest({ ...push, id }));
  expect(seen).toEqual([
    "Stripe evt_1",
    "stripe-connect invoice.paid has no handler",
    "posthorn order.paid has no handler",
    expect.stringMatching(/^GitHub [0-9a-f]{64}$/),
  ]);
});

const post = (body: string, headers: Record<string, string>) =>
  new Request("http://localhost/webhooks", { method: "POST", headers, body });

test("hmac-senders.ts reads three ways to sign and to name an event", async () => {
  const { receiver } = await import("../../examples/receiver/hmac-senders.ts");
  const seen: unknown[] = [];
  vi.mocked(console.log).mockImplementation((text) => void seen.push(text));
  const sign = (text: string) => createHmac("sha256", "It's a Secret to Everybody").update(text);
  const now = String(Math.floor(Date.now() / 1000));
  const [shop, mail, jobs] = ['{"id":"evt_1","type":"paid"}', '{"event":{"id":2,"kind":"sent"}}', "{}"];
  const requests = [
    post(shop, { "X-Shop-Signature": `t=${now},v1=${sign(`${now}.${shop}`).digest("hex")}` }),
    post(mail, {
      "X-Mail-Timestamp": now,
      "X-Mail-Signature": sign(`${now}.${mail}`).digest("base64"),
    }),
    post(jobs, {
      "X-Jobs-Delivery-Id": "3",
      "X-Jobs-Event": "finished",
      "X-Jobs-Signature": `sha256=${sign(jobs).digest("hex")}`,
    }),
    post(jobs, { "X-Jobs-Delivery-Id": "4", "X-Jobs-Event": "finished", "X-Jobs-Signature": "sha256=" }),
  ];
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await receiver.fetch(request)).status);
  expect(statuses).toEqual([200, 200, 200, 401]);
  expect(seen).toEqual(["shop evt_1 paid", "mail 2 sent", "jobs 3 finished"]);
});

test("custom-source.ts handles each reading of a batch once, and rejects another token", async () => {
  const { receiver } = await import("../../examples/receiver/custom-source.ts");
  const seen: unknown[] = [];
  vi.mocked(console.log).mockImplementation((text) => void seen.push(text));
  const at = "2026-01-01T00:00:00Z";
  const send = async (body: unknown, token = "It's a Secret to Everybody") => {
    const headers = { authorization: `Bearer ${token}`, "x-meter-batch": "1" };
    return (await receiver.fetch(post(JSON.stringify(body), headers))).status;
  };
  expect(await send([{ meter: "a", at }])).toBe(200);
  expect(
    await send([
      { meter: "a", at },
      { meter: "b", at },
    ]),
  ).toBe(200);
  expect(await send([{ meter: "c", at }], "wrong")).toBe(401);
  expect(await send({})).toBe(400);
  expect(seen).toEqual([`a ${at} was read`, `b ${at} was read`]);
});

test("typed-by-schema.ts rejects invalid data, typed-by-hand.ts does not check it", async () => {
  const { receiver: checked } = await import("../../examples/receiver/typed-by-schema.ts");
  const { receiver: trusting } = await import("../../examples/receiver/typed-by-hand.ts");
  const paid = { secret, type: "order.paid" };
  const fitting = { order: "order-1", total: 12 };
  expect((await checked.fetch(await signedRequest({ ...paid, data: fitting }))).status).toBe(200);
  expect((await trusting.fetch(await signedRequest({ ...paid, data: fitting }))).status).toBe(200);
  const refund = { type: "order.refunded", data: { order: "order-1", reason: null } };
  expect((await checked.fetch(await signedRequest({ secret, ...refund }))).status).toBe(200);
  expect((await checked.fetch(await signedRequest({ ...paid, data: { order: 1 } }))).status).toBe(400);
  expect((await trusting.fetch(await signedRequest({ ...paid, data: { order: 1 } }))).status).toBe(500);
});

test(
  "from-svix.ts accepts the requests that svix-by-hand.ts accepts, and Standard Webhooks",
  async () => {
    const { app: before } = await import("../../examples/receiver/svix-by-hand.ts");
    const { app } = await import("../../examples/receiver/from-svix.ts");
    const event = { vendor: "svix", payload: { type: "order.paid" } } as const;
    expect((await before.fetch(await signedRequest({ secret, ...event }))).status).toBe(204);
    const sender = createSender({ secret, receive: app.fetch });
    expect((await sender.duplicate(event)).map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
    expect((await sender.send({ ...order, schemes: ["standard-webhooks"] })).status).toBe(200);
    expect((await sender.tamper(event)).status).toBe(401);
  },
  LOADING_MS,
);
