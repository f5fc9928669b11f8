// Starts receiver-child.ts and listens to what it tells.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Received, send } from "./http-client.ts";
import type { ChildSettings, ChildTells } from "./receiver-child.ts";
import { type Delivery, secret } from "./signed-delivery.ts";
import type { SecondProcess } from "./store-world.ts";

export interface ReceiverProcess extends AsyncDisposable {
  send(delivery: Delivery): Promise<Received>;
  /** Ids of the events its handler was called with. */
  readonly handled: readonly string[];
  /** Resolves when the handler is called for the first time. */
  readonly handling: Promise<unknown>;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
}

export async function startReceiverProcess(
  { moduleUrl, args }: SecondProcess,
  given: Omit<ChildSettings, "secret">,
): Promise<ReceiverProcess> {
  const settings: ChildSettings = { ...given, secret };
  const child = fork(
    fileURLToPath(new URL("./receiver-child.ts", import.meta.url)),
    [JSON.stringify(settings), moduleUrl, ...args],
    { execArgv: ["--conditions=posthorn-source", "--import", "tsx"] },
  );
  const ended = once(child, "exit");
  const handled: string[] = [];
  const told = (kind: ChildTells["kind"]) =>
    new Promise<ChildTells>((resolve) => {
      child.on("message", (what: ChildTells) => what.kind === kind && resolve(what));
    });
  child.on("message", (what: ChildTells) => what.kind === "handling" && handled.push(what.id));
  const handling = told("handling");
  const listening = await Promise.race([told("listening"), ended]);
  if (!("port" in listening)) throw new Error("The process ended before it listened.");
  const kill = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await ended;
  };

  const url = `http://127.0.0.1:${listening.port}/webhooks`;
  return {
    send: ({ headers, body }) => send(url, { headers: { ...headers }, body }),
    handled,
    handling,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
