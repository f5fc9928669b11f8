// Follows a feed over WebSub. Content and completion are committed in one transaction.
import { createServer } from "node:http";
import { createReceiver, eventTypes } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { postgresStore } from "@posthorn/receiver/postgres";
import { createSubscriber, type WebSubContent } from "@posthorn/receiver/websub";
import pg from "pg";

const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
await store.migrate();

export const subscriber = createSubscriber({ callbackUrl: `${process.env.PUBLIC_URL}/websub`, store });
const receiver = createReceiver({
  sources: [subscriber.source],
  store,
  events: eventTypes<{ "websub.content": WebSubContent }>(),
});
receiver.on("websub.content", async ({ data, body }, { tx }) => {
  await tx.query(
    `insert into feeds (topic, type, content) values ($1, $2, $3)
     on conflict (topic) do update set type = excluded.type, content = excluded.content`,
    [data.topic, data.contentType, body],
  );
});

// all paths below /websub, including the hub's verification requests
export const server = createServer(nodeHandler(subscriber.before(receiver)));
server.listen(Number(process.env.PORT ?? 3000));

await subscriber.start(); // renews subscriptions
await subscriber.subscribe(process.env.FEED_URL ?? "https://blog.example.com/feed"); // safe to call at every start
