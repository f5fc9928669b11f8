// npm run chaos: injects faults around the engine, then compares the publishers' log with the receivers' log. Prints its
// figures in the last line and exits with 1 if an invariant was violated.
import { closeOnAbort } from "../benchmarks/system/close-on-abort.ts";
import { lineOf } from "./evidence/figures.ts";
import { type Options, readOptions } from "./options.ts";
import { plantNames } from "./plant.ts";
import { type Outcome, run } from "./run.ts";
import { selfTest } from "./self-test.ts";
import type { World } from "./world/world.ts";

const shownExamples = 5;

const options = readOptions(process.argv.slice(2));
if (options !== null) await main(options);

async function main({ seed, scale, plant, isSelfTest, keepsLogs }: Options): Promise<void> {
  const worlds: World[] = [];
  const aborting = closeOnAbort(async () => {
    await Promise.all(worlds.map((world) => world.close()));
    for (const world of worlds) world.removeLogs();
  });
  const callbacks = { print: console.log, onWorld: (world: World) => worlds.push(world) };
  try {
    if (isSelfTest)
      process.exitCode = (await selfTest(plant === null ? plantNames : [plant], seed, callbacks)) ? 0 : 1;
    else {
      const outcome = await run({ seed, scale, plant, ...callbacks });
      process.exitCode = report(outcome, keepsLogs) ? 0 : 1;
      console.log(lineOf(seed, outcome.figures));
    }
  } catch (error) {
    if (!aborting.isAborting) console.error(error);
    process.exitCode = 1;
  }
}

/** Prints violated invariants. Returns true if there are none. */
function report({ verdicts, logsDir, removeLogs }: Outcome, keepsLogs: boolean): boolean {
  const broken = verdicts.filter(({ counterExamples }) => counterExamples.length > 0);
  for (const { name, sentence, counterExamples } of broken) {
    console.log(`\nVIOLATED ${name}: ${sentence}. ${counterExamples.length} counter-examples:`);
    for (const example of counterExamples.slice(0, shownExamples)) console.log(`  ${example}`);
  }
  if (broken.length > 0 || keepsLogs) console.log(`\nLogs: ${logsDir}`);
  else removeLogs();
  console.log(`${verdicts.length - broken.length} of ${verdicts.length} invariants hold`);
  return broken.length === 0;
}
