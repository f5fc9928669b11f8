// Checks the checkers: every planted bug must violate its invariant.
import { bugScale } from "./options.ts";
import { type PlantName, plants } from "./plant.ts";
import { type RunOptions, run } from "./run.ts";

const seedsEach = 3;
const eventsPerSecond = 40;

/** Returns true if every bug was detected. */
export async function selfTest(
  bugs: readonly PlantName[],
  seed: number,
  callbacks: Pick<RunOptions, "print" | "onWorld">,
): Promise<boolean> {
  const { print } = callbacks;
  let detected = 0;
  for (const plant of bugs) {
    const { bug, breaks } = plants[plant];
    const broken = await firstFailure(plant, seed, callbacks);
    const isDetected = broken.includes(breaks);
    if (isDetected) detected += 1;
    print(
      isDetected
        ? `${plant}: detected by ${broken.join(", ")}`
        : `${plant}: NOT DETECTED by ${breaks} (${bug}). Violated with the last seed: ${broken.join(", ") || "nothing"}`,
    );
  }
  print(`${detected} of ${bugs.length} planted bugs detected`);
  return detected === bugs.length;
}

/** Returns the invariants that the first seed detecting the bug, or else the last seed, found violated. */
async function firstFailure(
  plant: PlantName,
  seed: number,
  { onWorld }: Pick<RunOptions, "onWorld">,
): Promise<string[]> {
  const { faults, breaks } = plants[plant];
  const scale = bugScale(eventsPerSecond, faults.length > 0);
  let broken: string[] = [];
  for (let offset = 0; offset < seedsEach && !broken.includes(breaks); offset += 1) {
    const { verdicts, removeLogs } = await run({
      seed: seed + offset,
      scale,
      plant,
      print: () => {},
      onWorld,
    });
    removeLogs();
    broken = verdicts.flatMap(({ name, counterExamples }) => (counterExamples.length > 0 ? name : []));
  }
  return broken;
}
