// Shared by Posthorn and other senders that use the Standard Webhooks specification: the schemes of @posthorn/wire.
import { headerNames, type Scheme, schemeNamed, verify, verifyingKeyBytes } from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { Authentication, AuthenticationOptions, RawRequest, Source } from "../source.ts";
import { rejectionExplainer } from "./explain-rejections.ts";

export interface SigningOptions {
  /** All secrets that may have signed: during a rotation, the old and the new one. `whpk_…` for schemes with public keys. */
  readonly secrets: readonly (string | undefined)[];
  /** Part of every message's key; required to distinguish two senders of the same kind. */
  readonly name?: string | undefined;
}

export interface CloudEventsOptions extends SigningOptions {
  /**
   * `cloudevents-binary`: every request is a CloudEvent whose attributes are `ce-*` headers. No signature covers them, so any hop can
   * change type, subject and sequence; the id is the signed one. Default: the body decides.
   */
  readonly format?: "cloudevents-binary" | undefined;
}

export function isBinary(preset: string, { format }: CloudEventsOptions): boolean {
  if (format === undefined || format === "cloudevents-binary") return format !== undefined;
  throw new TypeError(`\`format\` of ${preset}() must be "cloudevents-binary" or omitted.`);
}

export type Authenticator = Pick<Source, "matches" | "authenticate">;

/** The first scheme whose signature is present decides, so schemes that sign the id should come first. */
export function authenticator(
  preset: string,
  { secrets: given }: SigningOptions,
  names: readonly string[],
  headerPrefix?: string,
): Authenticator {
  const secrets = checkedSecrets(preset, given);
  const unusable = secrets.findIndex((secret) => !isStandardSecret(secret));
  if (unusable !== -1) {
    throw new TypeError(
      `secrets[${unusable}] of ${preset}() should be whsec_ and the base64 of 24 to 64 bytes, or a public key, whpk_ and base64.`,
    );
  }
  const schemes = names.map(schemeNamed).filter((scheme) => canVerify(scheme, secrets));
  if (schemes.length === 0) {
    throw new TypeError(`None of the secrets of ${preset}() can verify ${names.join(" or ")}.`);
  }
  const headersOf = headerNames(headerPrefix);
  const signedBy = ({ headers }: Pick<RawRequest, "headers">) =>
    schemes.filter((scheme) => readHeader(headers, scheme.headers.signature(headersOf)) !== null);
  const explain = rejectionExplainer();

  return {
    matches: (headers) => signedBy({ headers }).length > 0,
    async authenticate(request: RawRequest, terms: AuthenticationOptions): Promise<Authentication> {
      const [first, ...others] = signedBy(request) as [Scheme, ...Scheme[]];
      // Two schemes may share a header, as v1 and v1a do; then either may match.
      const candidates = [first, ...others.filter((other) => sharesHeader(first, other))];
      let refusal: Authentication | null = null;
      for (const scheme of candidates) {
        const input = { ...request, ...terms, scheme, secrets, ...(headerPrefix && { headerPrefix }) };
        const result = await verify(input);
        if (result.ok) {
          const id = scheme.headers.id?.(headersOf);
          return { ok: true, signedId: id === undefined ? null : readHeader(request.headers, id) };
        }
        refusal ??= { ...result, explain: () => explain(input, result, terms.now) };
      }
      return refusal as Authentication;
    },
  };

  function sharesHeader(one: Scheme, other: Scheme): boolean {
    return one.headers.signature(headersOf) === other.headers.signature(headersOf);
  }
}

export function checkedSecrets(preset: string, secrets: readonly (string | undefined)[]): string[] {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError(`${preset}() needs \`secrets\`: a list of at least one.`);
  }
  return secrets.map((secret, at) => {
    const problem = secretProblem(preset, secret);
    if (problem === null) return secret as string;
    throw new TypeError(`secrets[${at}] of ${preset}() ${problem}`);
  });
}

/** A mistake in a secret that would reject every delivery, as the end of a sentence. */
function secretProblem(preset: string, secret: unknown): string | null {
  if (typeof secret !== "string" || secret.trim() === "") {
    return "is missing. Is the environment variable set?";
  }
  if (/[\r\n]$/.test(secret)) return "ends with a line break, as if read from a file. Trim it.";
  if (secret.trim() !== secret) return "has white space around it. Trim it.";
  if (preset === "stripe" && /^[spr]k_/.test(secret)) {
    return "is a Stripe API key. A webhook secret begins with whsec_.";
  }
  return null;
}

/** Schemes that use the secret as text would accept a mistyped one and reject every delivery. */
function isStandardSecret(secret: string): boolean {
  return (["base64", "ed25519"] as const).some((kind) => verifyingKeyBytes(kind, secret) !== null);
}

function canVerify(scheme: Scheme, secrets: readonly string[]): boolean {
  return secrets.some((secret) => verifyingKeyBytes(scheme.key, secret) !== null);
}
