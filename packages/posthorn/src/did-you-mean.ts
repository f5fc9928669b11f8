// Rejects unknown option names, with a suggestion.
import { didYouMean, escapePointer, expectedOneOf } from "@posthorn/wire";
import { type ErrorCode, type InputProblem, MAX_PROBLEMS, problemAt, throwProblems } from "./errors.ts";

/** Throws if `given` has an unknown name. `what` begins the sentence: `publish has no option`. */
export function refuseUnknown(
  what: string,
  given: object,
  known: readonly string[],
  code: ErrorCode = "invalid_config",
): void {
  if (typeof given !== "object" || given === null) {
    const message = `${what} "${String(given).slice(0, 60)}": pass an object. ${expectedOneOf(known)}`;
    throw problemAt(code, "", message);
  }
  const problems: InputProblem[] = [];
  findUnknown(what, given, known, problems);
  throwProblems(code, problems);
}

/** Collects the problems instead of throwing. It runs on every publish, so it allocates nothing for valid input. */
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
      pointer: `/${escapePointer(shown)}`,
      message: `${what} "${shown}". ${didYouMean(name, known)}`,
    });
  }
}
