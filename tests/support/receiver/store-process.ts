// Starts store-child.ts, which opens a store in a process of its own, and asks it to do things.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Claim, ClaimOptions, ClaimResult, Message, RunResult } from "@posthorn/receiver";
import type { SecondProcess } from "./store-world.ts";

export type StoreCall =
  | {
      readonly kind: "claim";
      readonly message: Message;
      readonly terms: ClaimOptions;
      readonly times: number;
    }
  | {
      readonly kind: "claimDue";
      readonly limit: number;
      readonly terms: ClaimOptions;
      readonly times: number;
    }
  | {
      readonly kind: "work";
      readonly message: Message;
      readonly terms: ClaimOptions;
      readonly effect: string;
      readonly times: number;
    }
  | {
      readonly kind: "work for ever";
      readonly message: Message;
      readonly terms: ClaimOptions;
      readonly effect: string;
    };

export type StoreReply = { readonly call: number; readonly result?: unknown; readonly error?: string };

export interface StoreProcess extends AsyncDisposable {
  /** So many claims of it at once. */
  claim(message: Message, terms: ClaimOptions, times: number): Promise<ClaimResult[]>;
  claimDue(limit: number, terms: ClaimOptions, times: number): Promise<Claim[]>;
  /** So many runs of it at once, each of which would write the effect. */
  work(message: Message, terms: ClaimOptions, effect: string, times: number): Promise<RunResult[]>;
  /** Resolves when the effect was written in a transaction that will never end. */
  workForEver(message: Message, terms: ClaimOptions, effect: string): Promise<void>;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
}

export async function startStoreProcess({ moduleUrl, args }: SecondProcess): Promise<StoreProcess> {
  const child = fork(fileURLToPath(new URL("./store-child.ts", import.meta.url)), [moduleUrl, ...args], {
    execArgv: ["--conditions=posthorn-source", "--import", "tsx"],
    serialization: "advanced",
  });
  const ended = once(child, "exit");
  const replies = new Map<number, (reply: StoreReply) => void>();
  child.on("message", (reply: StoreReply) => replies.get(reply.call)?.(reply));

  let calls = 0;
  const replyTo = (call: number) =>
    new Promise<unknown>((resolve, reject) => {
      replies.set(call, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error)),
      );
      void ended.then(() => reject(new Error("The process ended.")));
    });
  const ask = (question: StoreCall) => {
    calls += 1;
    const reply = replyTo(calls);
    child.send({ call: calls, question });
    return reply;
  };
  const kill = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await ended;
  };

  await replyTo(0); // told when the store is open
  return {
    claim: (message, terms, times) => ask({ kind: "claim", message, terms, times }) as Promise<ClaimResult[]>,
    claimDue: (limit, terms, times) => ask({ kind: "claimDue", limit, terms, times }) as Promise<Claim[]>,
    work: (message, terms, effect, times) =>
      ask({ kind: "work", message, terms, effect, times }) as Promise<RunResult[]>,
    workForEver: (message, terms, effect) =>
      ask({ kind: "work for ever", message, terms, effect }) as Promise<void>,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
