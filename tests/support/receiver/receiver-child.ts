// A process with a receiver on a store (its second argument names the module that opens it) behind Node's http. Its
// handler leaves its effect in the store's transaction where there is one, tells of it, and with `hangs` never ends.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver, type Mode, standardWebhooks } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { NOW } from "./signed-delivery.ts";
import type { OpenStore } from "./store-world.ts";

export interface ChildSettings {
  readonly mode: Mode;
  readonly secret: string;
  readonly hangs: boolean;
}

export type ChildTells =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "handling"; readonly id: string };

const [settings = "", moduleUrl = "", ...args] = process.argv.slice(2);
const { mode, secret, hangs } = JSON.parse(settings) as ChildSettings;
const { openStore } = (await import(moduleUrl)) as { openStore: OpenStore };
const { store, writeEffect } = await openStore(args);
const tell = (what: ChildTells) => process.send?.(what);

const receiver = createReceiver({
  sources: [standardWebhooks({ secrets: [secret] })],
  store,
  mode,
  clock: () => NOW,
});
receiver.fallback(async ({ id }, context) => {
  if (mode === "transactional") await writeEffect?.(context.tx, id);
  tell({ kind: "handling", id });
  if (hangs) await new Promise(() => {});
});

const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1", () => {
  tell({ kind: "listening", port: (server.address() as AddressInfo).port });
});
process.on("disconnect", () => process.exit(0));
