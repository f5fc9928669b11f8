// Secrets and header prefixes as they are given to `sign`, `verify` and `listen`.
import { DEFAULT_HEADER_PREFIX, headerPrefixProblem, parseSecret } from "@posthorn/wire";
import { usage } from "../failure.ts";

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

export function prefixOf(given: string | undefined): string {
  if (given === undefined) return DEFAULT_HEADER_PREFIX;
  const problem = headerPrefixProblem(given);
  if (problem !== null) throw usage(problem);
  return given;
}
