// npm run chaos: breaks everything around the engine on purpose, then compares what publishers were told with what
// receivers saw. Prints its figures in the last line; ends with 1 when a promise was broken.
import { lineOf } from "./figures.ts";
import { type Options, readOptions } from "./options.ts";
import { plantNames } from "./plant.ts";
import { prove } from "./prove.ts";
import { type Outcome, run } from "./run.ts";
import type { World } from "./world.ts";

const shownExamples = 5;

const options = readOptions(process.argv.slice(2));
if (options !== null) await main(options);

async function main({ seed, scale, plant, isProof, keepsLogs }: Options): Promise<void> {
  const worlds: World[] = [];
  let isEnding = false;
  const endEarly = (exitCode: number): void => {
    if (isEnding) return;
    isEnding = true;
    void Promise.all(worlds.map((world) => world.close())).finally(() => {
      for (const world of worlds) world.removeLogs();
      process.exit(exitCode);
    });
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => endEarly(130));
  // the reader of our output went away, as in `npm run chaos | head`
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => endEarly(1));

  const surroundings = { say: console.log, onWorld: (world: World) => worlds.push(world) };
  try {
    if (isProof)
      process.exitCode = (await prove(plant === null ? plantNames : [plant], seed, surroundings)) ? 0 : 1;
    else {
      const outcome = await run({ seed, scale, plant, ...surroundings });
      process.exitCode = report(outcome, keepsLogs) ? 0 : 1;
      console.log(lineOf(seed, outcome.figures));
    }
  } catch (error) {
    if (!isEnding) console.error(error);
    process.exitCode = 1;
  }
}

/** True when every promise was kept. */
function report({ verdicts, logsDir, removeLogs }: Outcome, keepsLogs: boolean): boolean {
  const broken = verdicts.filter(({ counterExamples }) => counterExamples.length > 0);
  for (const { name, sentence, counterExamples } of broken) {
    console.log(`\nBROKEN, ${name}: ${sentence}. ${counterExamples.length} times not:`);
    for (const example of counterExamples.slice(0, shownExamples)) console.log(`  ${example}`);
  }
  if (broken.length > 0 || keepsLogs) console.log(`\nThe logs are in ${logsDir}`);
  else removeLogs();
  console.log(`${verdicts.length - broken.length} of ${verdicts.length} promises kept`);
  return broken.length === 0;
}
