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
    const names = await firstRed(plant, seed, surroundings);
    if (names.length > 0) caught += 1;
    say(
      names.length > 0
        ? `${plant}: caught by ${names.join(", ")}`
        : `${plant}: NOT CAUGHT (${plants[plant].bug})`,
    );
  }
  say(`${caught} of ${bugs.length} planted bugs caught`);
  return caught === bugs.length;
}

/** The invariants that broke, at the first seed at which any did. */
async function firstRed(
  plant: PlantName,
  seed: number,
  { onWorld }: Pick<RunOptions, "onWorld">,
): Promise<string[]> {
  const scale = plantScale(eventsPerSecond, plants[plant].strikes.length > 0);
  for (let offset = 0; offset < seedsEach; offset += 1) {
    const outcome = await run({ seed: seed + offset, scale, plant, say: () => {}, onWorld });
    outcome.removeLogs();
    const red = outcome.verdicts.filter(({ counterExamples }) => counterExamples.length > 0);
    if (red.length > 0) return red.map(({ name }) => name);
  }
  return [];
}
