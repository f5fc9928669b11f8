// Proves the prover: every planted bug must turn a run red.
import { plantScale } from "./options.ts";
import { type PlantName, plants } from "./plant.ts";
import { type RunOptions, run } from "./run.ts";

const seedsEach = 3;
const eventsPerSecond = 40;

/** True when each was caught; the last line counts. */
export async function prove(
  bugs: readonly PlantName[],
  seed: number,
  surroundings: Pick<RunOptions, "say" | "onWorld">,
): Promise<boolean> {
  const { say } = surroundings;
  let caught = 0;
  for (const plant of bugs) {
    const { bug, breaks } = plants[plant];
    const broken = await firstRed(plant, seed, surroundings);
    const isCaught = broken.includes(breaks);
    if (isCaught) caught += 1;
    say(
      isCaught
        ? `${plant}: caught by ${broken.join(", ")}`
        : `${plant}: NOT CAUGHT by ${breaks} (${bug}). Broken at the last seed: ${broken.join(", ") || "nothing"}`,
    );
  }
  say(`${caught} of ${bugs.length} planted bugs caught`);
  return caught === bugs.length;
}

/** The promises that were broken, at the first seed at which the one in question was, or at the last. */
async function firstRed(
  plant: PlantName,
  seed: number,
  { onWorld }: Pick<RunOptions, "onWorld">,
): Promise<string[]> {
  const { strikes, breaks } = plants[plant];
  const scale = plantScale(eventsPerSecond, strikes.length > 0);
  let broken: string[] = [];
  for (let offset = 0; offset < seedsEach && !broken.includes(breaks); offset += 1) {
    const { verdicts, removeLogs } = await run({ seed: seed + offset, scale, plant, say: () => {}, onWorld });
    removeLogs();
    broken = verdicts.flatMap(({ name, counterExamples }) => (counterExamples.length > 0 ? name : []));
  }
  return broken;
}
