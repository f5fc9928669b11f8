// Secrets and header prefixes as they are given to `sign`, `verify` and `listen`.
import {
  DEFAULT_HEADER_PREFIX,
  DEFAULT_SCHEMES,
  findScheme,
  headerPrefixProblem,
  parseSecret,
  schemeProblems,
  schemes,
} from "@posthorn/wire";
import { usage } from "../failure.ts";
import { listOf } from "../remote/remote.ts";

/** A secret is never quoted in a message. */
export function secretsOf(given: readonly string[]): readonly string[] {
  for (const secret of given) {
    if (secret.trim() !== secret || secret === "") {
      throw usage("A secret is empty or has spaces around it. Copy it again.");
    }
    if (/^wh(sec|sk|pk)_/.test(secret) && parseSecret(secret) === null) {
      throw usage(
        "A secret begins like one of Posthorn's and is not whole. Copy it again, up to its last =.",
      );
    }
  }
  return given;
}

/** Posthorn's own: what others sign needs the request's URL, or a time written in their way. */
export function schemesOf(given: string | undefined): string[] {
  if (given === undefined) return [...DEFAULT_SCHEMES];
  const names = listOf(given);
  const foreign = names.find((name) => findScheme(name) !== undefined && !Object.hasOwn(schemes, name));
  const [problem] =
    foreign === undefined ? schemeProblems(names) : [`${foreign} is for endpoints; here, choose another.`];
  if (problem !== undefined) throw usage(problem);
  return names;
}

export function prefixOf(given: string | undefined): string {
  if (given === undefined) return DEFAULT_HEADER_PREFIX;
  const problem = headerPrefixProblem(given);
  if (problem !== null) throw usage(problem);
  return given;
}
