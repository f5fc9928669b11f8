// Redis, by ioredis: a lease, so effects may repeat after a crash.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { redisStore } from "@posthorn/receiver/redis";
import { Redis } from "ioredis";

const options = { lazyConnect: true, maxRetriesPerRequest: 1, enableOfflineQueue: false };
export const redis = new Redis(process.env.REDIS_URL ?? "redis://127.0.0.1:6379", options);
await redis.connect(); // required before the first command, because there is no offline queue
const store = redisStore(redis);
await store.migrate(); // checks that the server cannot evict keys

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store,
});
receiver.on("order.paid", (event) => console.log(event.id));
