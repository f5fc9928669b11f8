// Turns a misspelt name into a suggestion, so that a typo costs one reading of the message and not a search.
import { type ErrorCode, type InputProblem, MAX_PROBLEMS, PosthornError } from "./errors.ts";

/**
 * For options: a name that nobody knows is an intention that nobody would carry out. `what` begins the sentence:
 * `publish has no option`.
 */
export function refuseUnknown(
  what: string,
  given: object,
  known: readonly string[],
  code: ErrorCode = "invalid_config",
): void {
  if (typeof given !== "object" || given === null) {
    const message = `${what} "${String(given).slice(0, 60)}": pass an object. Known are ${known.join(", ")}.`;
    throw new PosthornError(code, message, { problems: [{ pointer: "", message }] });
  }
  const problems: InputProblem[] = [];
  findUnknown(what, given, known, problems);
  const [first] = problems;
  if (first !== undefined) throw new PosthornError(code, first.message, { problems });
}

/** The same for input whose mistakes are collected. Allocates nothing when all is well: every publish passes here. */
export function findUnknown(
  what: string,
  given: object,
  known: readonly string[],
  problems: InputProblem[],
): void {
  for (const name in given) {
    if (known.includes(name)) continue;
    if (problems.length >= MAX_PROBLEMS) return;
    const shown = name.slice(0, 60);
    problems.push({
      pointer: `/${shown.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      message: `${what} "${shown}". ${didYouMean(name, known)}`,
    });
  }
}

/** That of a type, the longest there is. Comparing takes the time of both lengths multiplied. */
const MAX_NAME_LENGTH = 128;
const MAX_NAMES_LISTED = 100;

/** `Did you mean X?`, or the names there are when none is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  const nearest = closest(name, known);
  if (nearest !== null) return `Did you mean ${nearest}?`;
  const others = known.length > MAX_NAMES_LISTED ? ` and ${known.length - MAX_NAMES_LISTED} others` : "";
  return `Known are ${known.slice(0, MAX_NAMES_LISTED).join(", ")}${others}.`;
}

export function closest(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null;
  // A third of the letters may differ: further away a suggestion misleads more than it helps.
  let best = Math.max(1, Math.floor(name.length / 3)) + 1;
  let nearest: string | null = null;
  for (const candidate of known) {
    // as many letters differ as there are more of them
    if (Math.abs(plain(name).length - plain(candidate).length) >= best) continue;
    const distance = editDistance(plain(name), plain(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** `is_active`, `IsActive` and `isActive` are the same slip. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

/** Letters inserted, left out, replaced or swapped with their neighbour (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let distance = Math.min(at(last, j) + 1, at(current, j - 1) + 1, at(last, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, at(beforeLast, j - 2) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
