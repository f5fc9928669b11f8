// Starts subscriber-child.ts, to be killed.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SubscriberSettings } from "./subscriber-child.ts";

export interface SubscriberProcess extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly url: string;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
}

export async function startSubscriberProcess(settings: SubscriberSettings): Promise<SubscriberProcess> {
  const child = fork(
    fileURLToPath(new URL("./subscriber-child.ts", import.meta.url)),
    [JSON.stringify(settings)],
    { execArgv: ["--conditions=posthorn-source", "--import", "tsx"] },
  );
  const ended = once(child, "exit");
  const [told] = (await Promise.race([once(child, "message"), ended])) as [{ url?: string }];
  if (told?.url === undefined) throw new Error("The process ended before it listened.");
  const kill = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await ended;
  };
  return { url: told.url, kill, [Symbol.asyncDispose]: kill };
}
