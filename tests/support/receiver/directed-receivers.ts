// Several processes of directed-child.ts behind one front door. One that is killed is replaced at once.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { bundleProgram } from "../bundle-program.ts";
import type { DirectedSettings, Direction, Scene, Tells } from "./directed-child.ts";
import type { FrontDoor } from "./front-door.ts";

const program = await bundleProgram(new URL("./directed-child.ts", import.meta.url));

export interface SceneIn extends Scene {
  readonly receiver: DirectedReceiver;
}

export interface DirectedReceiver {
  /** kill -9, and waits until it is gone. Its place is taken by a new one. */
  kill(): Promise<void>;
}

export interface DirectedReceivers {
  /** Every place is taken by one that listens. */
  readonly areComplete: boolean;
  close(): Promise<void>;
}

/** `direct` is asked by every handler; null: no answer, ever. */
export async function startReceivers(
  count: number,
  settings: DirectedSettings,
  door: FrontDoor,
  direct: (scene: SceneIn) => Promise<Direction | null>,
): Promise<DirectedReceivers> {
  const children = new Set<ChildProcess>();
  let isClosed = false;
  let failure: unknown;

  async function raise(): Promise<void> {
    const child = fork(program, [JSON.stringify(settings)], { execArgv: [] });
    children.add(child);
    const ended = once(child, "exit");
    void ended.then(([code]) => {
      if (code !== null) fail(new Error(`A receiver ended by itself, with ${code}.`));
    });
    let port = 0;
    const leave = () => {
      door.ports = door.ports.filter((other) => other !== port);
    };
    const receiver: DirectedReceiver = {
      async kill() {
        leave();
        child.kill("SIGKILL");
        await ended;
        children.delete(child);
        if (!isClosed) void raise().catch(fail);
      },
    };
    const listening = new Promise<number>((resolve) => {
      child.on("message", (told: Tells) => {
        if (told.kind === "listening") return resolve(told.port);
        void answer(told.call, { ...told.scene, receiver });
      });
    });
    async function answer(call: number, scene: SceneIn): Promise<void> {
      const direction = await direct(scene).catch(fail);
      if (direction && child.connected) child.send({ call, direction }, () => {});
    }
    port = await Promise.race([
      listening,
      ended.then(() => {
        if (!isClosed) throw new Error("The process ended before it listened.");
        return 0;
      }),
    ]);
    if (isClosed) return;
    door.ports = [...door.ports, port];
  }

  function fail(error: unknown): null {
    failure ??= error;
    return null;
  }

  await Promise.all(Array.from({ length: count }, raise));
  return {
    get areComplete() {
      return door.ports.length === count;
    },
    async close() {
      isClosed = true;
      await Promise.all(
        [...children].map(async (child) => {
          child.kill("SIGKILL");
          if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        }),
      );
      if (failure !== undefined) throw failure;
    },
  };
}
