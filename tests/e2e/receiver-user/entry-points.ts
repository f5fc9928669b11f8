// Every entry point and its declarations, with no library but Node's types.
import { createServer } from "node:http";
import { createReceiver, eventTypes, memoryStore, posthorn, type Store, stripe } from "@posthorn/receiver";
import { expressHandler } from "@posthorn/receiver/express";
import { fastifyPlugin } from "@posthorn/receiver/fastify";
import { koaHandler } from "@posthorn/receiver/koa";
import { lambdaHandler } from "@posthorn/receiver/lambda";
import { nestHandler } from "@posthorn/receiver/nestjs";
import { nextPagesHandler } from "@posthorn/receiver/next-pages";
import { nodeHandler } from "@posthorn/receiver/node";
import { migrations } from "@posthorn/receiver/postgres";
import { redisStore } from "@posthorn/receiver/redis";
import { sqliteStore } from "@posthorn/receiver/sqlite";
import { createSender, signedRequest } from "@posthorn/receiver/testing";

interface Events {
  "order.paid": { order: string; total: number };
  "order.refunded": { order: string; reason: string | null };
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const store = memoryStore();
const receiver = createReceiver({
  sources: [
    posthorn({ secrets: [secret, process.env.NEXT_SECRET ?? secret] }),
    stripe({ secrets: [secret] }),
  ],
  store,
  events: eventTypes<Events>(),
});
const totals: number[] = [];
receiver
  .on("order.paid", ({ data }) => totals.push(data.total))
  .on("order.*", (event) => {
    const reason: string | null = event.type === "order.refunded" ? event.data.reason : null;
    console.log(event.type, reason?.toUpperCase());
  })
  .fallback(({ data }) => {
    // @ts-expect-error what is not in the catalogue is unknown
    data.total;
  });
// @ts-expect-error there is no such type
void (() => receiver.on("order.payed", () => {}));

const sender = createSender({ secret, receive: receiver.fetch });
const attempts = await sender.duplicate({ type: "order.paid", data: { order: "order-1", total: 12 } });
const response = await receiver.fetch(
  await signedRequest({ secret, type: "order.refunded", data: { order: "1", reason: "broken" } }),
);

createServer(nodeHandler(receiver));
const handlers = [
  expressHandler,
  fastifyPlugin,
  koaHandler,
  lambdaHandler,
  nestHandler,
  nextPagesHandler,
].map((adapt) => typeof adapt(receiver));
const stores: Store[] = [store];
console.log(
  JSON.stringify({
    statuses: [...attempts.map(({ status }) => status), response.status],
    totals,
    handlers,
    stores: [stores.length, typeof redisStore, typeof sqliteStore, migrations().length],
  }),
);
