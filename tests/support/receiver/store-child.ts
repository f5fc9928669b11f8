// A process that opens a store (its first argument names the module that can) and does as it is asked.

import type { StoreCall, StoreReply } from "./store-process.ts";
import type { OpenStore } from "./store-world.ts";

const [moduleUrl = "", ...args] = process.argv.slice(2);
const { openStore } = (await import(moduleUrl)) as { openStore: OpenStore };
const { store, writeEffect } = await openStore(args);

function answer(question: StoreCall): Promise<unknown> {
  switch (question.kind) {
    case "claim":
      return manyAtOnce(question.times, () => store.claim(question.message, question.terms));
    case "claimDue":
      return manyAtOnce(question.times, () => store.claimDue(question.limit, question.terms)).then((some) =>
        some.flat(),
      );
    case "work":
      return manyAtOnce(question.times, async () => {
        const work = async (tx: unknown) => await writeEffect?.(tx, question.effect);
        return await store.transactions?.run(question.message, question.terms, work);
      });
    case "work for ever":
      return new Promise((resolve, reject) => {
        const work = async (tx: unknown) => {
          await writeEffect?.(tx, question.effect);
          resolve(undefined);
          await new Promise(() => {});
        };
        store.transactions?.run(question.message, question.terms, work).catch(reject);
      });
  }
}

function manyAtOnce<Result>(count: number, act: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, act));
}

const tell = (reply: StoreReply) => process.send?.(reply);

process.on("message", ({ call, question }: { call: number; question: StoreCall }) => {
  answer(question).then(
    (result) => tell({ call, result }),
    (error) => tell({ call, error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
tell({ call: 0 });
