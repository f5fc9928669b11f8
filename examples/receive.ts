// A receiver that handles each event once. With a database in place of its memory: docs/guides/receiving.md
import { createServer } from "node:http";
import { createReceiver, memoryStore, posthorn } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";

const sources = [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })];
const receiver = createReceiver({ sources, store: memoryStore() });
receiver.on("order.paid", (event) => console.log(`${event.type} ${event.id}`));

const server = createServer(nodeHandler(receiver));
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log("listening"));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());
