// Parses the secret, scheme and header prefix options of `sign`, `verify`, `listen` and `endpoints`.
import {
  DEFAULT_HEADER_PREFIX,
  DEFAULT_SCHEMES,
  headerPrefixProblem,
  importedKey,
  MAX_SECRET_BYTES,
  parseSecret,
  rawSecret,
  SECRET_ENCODINGS,
  type SecretEncoding,
  schemeNamed,
  schemeNames,
  schemeProblems,
  signingKeyBytes,
} from "@posthorn/wire";
import { Option } from "commander";
import { usage } from "../failure.ts";
import { splitList } from "../remote/remote.ts";

/** The option that goes with a secret of another sender. */
export const SECRET_ENCODING_OPTION = new Option(
  "--secret-encoding <encoding>",
  "how a secret of another sender is written: text, base64 or hex",
).choices(SECRET_ENCODINGS);

/** A secret is never quoted in a message. */
export function secretsOf(given: readonly string[], encoding?: SecretEncoding): readonly string[] {
  if (encoding !== undefined && encoding !== "whsec") {
    return given.map((secret) => {
      const key = /^wh(sk|pk)_/.test(secret) ? null : importedKey(secret, encoding);
      if (key !== null) return rawSecret(key);
      if (parseSecret(secret) !== null) return secret;
      throw usage(`A secret is not 1 to ${MAX_SECRET_BYTES} bytes of ${encoding}. Copy it again.`);
    });
  }
  for (const secret of given) {
    if (secret.trim() !== secret || secret === "") {
      throw usage("A secret is empty or has surrounding spaces. Copy it again.");
    }
    if (/^wh(sec|sk|pk)_/.test(secret) && parseSecret(secret) === null) {
      throw usage(
        "A secret begins with a Posthorn prefix but is incomplete. Copy it again, including a trailing =.",
      );
    }
  }
  return given;
}

/** As `secretsOf`, and also as written where a rotation may have generated the secret, since an imported one may look the same. */
export function verifyingSecretsOf(given: readonly string[], encoding?: SecretEncoding): readonly string[] {
  const generated = given.filter((secret) => parseSecret(secret) !== null);
  return [...new Set([...secretsOf(given, encoding), ...generated])];
}

/** An option for comma-separated signature schemes, listed in the help and in shell completion. */
export function schemeOption(flags: string, description: string): Option {
  const option = new Option(flags, description);
  option.argChoices = [...schemeNames];
  return option;
}

export const SCHEMES_OPTION = schemeOption(
  "--scheme <schemes>",
  `comma-separated signature schemes (default ${DEFAULT_SCHEMES.join(",")})`,
);

export function schemesOf(given: string | undefined, prefix?: string): string[] {
  if (given === undefined) return [...DEFAULT_SCHEMES];
  const names = splitList(given);
  const [problem] = schemeProblems(names, prefix);
  if (problem !== undefined) throw usage(problem);
  return names;
}

/** Throws if a scheme has no suitable secret. */
export function requireSigningSecrets(schemes: readonly string[], secrets: readonly string[]): void {
  for (const name of schemes) {
    const { key } = schemeNamed(name);
    if (secrets.some((secret) => signingKeyBytes(key, secret) !== null)) continue;
    const wanted = { text: "any text", base64: "a whsec_…", ed25519: "a whsk_…" }[key];
    throw usage(`None of the secrets can sign with the scheme "${name}", which needs ${wanted}.`);
  }
}

export function prefixOf(given: string | undefined): string {
  if (given === undefined) return DEFAULT_HEADER_PREFIX;
  const problem = headerPrefixProblem(given);
  if (problem !== null) throw usage(problem);
  return given;
}
