// A process with a subscriber on PostgreSQL behind Node's http; what it reads it writes into the table of effects.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { postgresStore } from "@posthorn/receiver/postgres";
import { createSubscriber } from "@posthorn/receiver/websub";
import { createPool } from "../../postgres.ts";

export interface SubscriberSettings {
  readonly connectionString: string;
  readonly subscribeTo: string | null;
}

const { connectionString, subscribeTo } = JSON.parse(process.argv[2] ?? "") as SubscriberSettings;
const store = postgresStore(createPool(connectionString));
const server = createServer((request, response) => void handle(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const subscriber = createSubscriber({ callbackUrl: `${url}/websub`, store, pollMs: 50 });
const receiver = createReceiver({ sources: [subscriber.source], store });
receiver.on("websub.content", async ({ body }, { tx }) => {
  await tx.query("insert into effects (effect) values ($1)", [new TextDecoder().decode(body)]);
});
const handle = nodeHandler(subscriber.before(receiver));
await subscriber.start();
process.on("disconnect", () => process.exit(0));
process.send?.({ url });
if (subscribeTo !== null) await subscriber.subscribe(subscribeTo);
