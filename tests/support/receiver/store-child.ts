// A process that opens a store and writes an effect in a transaction that never ends. Its arguments are the id of the message,
// the module that opens the store, and that module's own arguments.
import { defaults, messageWith, type OpenStore } from "./store-world.ts";

const [id = "", moduleUrl = "", ...args] = process.argv.slice(2);
const { openStore } = (await import(moduleUrl)) as { openStore: OpenStore };
const { store, writeEffect } = await openStore(args);

process.on("disconnect", () => process.exit(0));
await store.transactions?.run(messageWith({ id }), defaults, async (tx) => {
  await writeEffect(tx, "half");
  process.send?.("written");
  await new Promise(() => {});
});
