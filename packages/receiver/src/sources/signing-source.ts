// Verifies signatures with the schemes of @posthorn/wire, for Posthorn and other senders that use Standard Webhooks.
import {
  expectedOneOf,
  type HeaderSource,
  headerNames,
  importedKey,
  parseSecret,
  type Scheme,
  SECRET_ENCODINGS,
  type Secret,
  type SecretEncoding,
  schemeNamed,
  verify,
  verifyingKeyBytes,
} from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { Authentication, AuthenticationOptions, RawRequest, Source } from "../source.ts";
import { rejectionExplainer } from "./explain-rejections.ts";

export interface SigningOptions {
  /**
   * All secrets that may have signed: during a rotation, the old and the new one. `whpk_…` for schemes with public keys. Bytes are used
   * as the key of the HMAC unchanged.
   */
  readonly secrets: readonly (Secret | undefined)[];
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

/** Verifies with the first scheme whose signature is present, so schemes that sign the id should come first. */
export function authenticator(
  preset: string,
  { secrets: configured }: SigningOptions,
  names: readonly string[],
  headerPrefix?: string,
): Authenticator {
  const secrets = checkedSecrets(preset, configured);
  const accepted = names.map(schemeNamed);
  const unusable = secrets.findIndex((secret) => isUnusable(secret, accepted));
  if (unusable !== -1) {
    throw new TypeError(
      `secrets[${unusable}] of ${preset}() should be whsec_ and the base64 of 24 to 64 bytes, or a public key, whpk_ and base64. Pass the bytes of any other key.`,
    );
  }
  const schemes = accepted.filter((scheme) => secrets.some((secret) => canVerify(scheme, secret)));
  if (schemes.length === 0) {
    throw new TypeError(`None of the secrets of ${preset}() can verify ${names.join(" or ")}.`);
  }
  const headersOf = headerNames(headerPrefix);
  const signatures = schemes.map((scheme) => scheme.headers.signature(headersOf));
  const firstIn = (headers: HeaderSource) =>
    signatures.findIndex((signature) => readHeader(headers, signature) !== null);
  const explain = rejectionExplainer();

  return {
    matches: (headers) => firstIn(headers) !== -1,
    async authenticate(request: RawRequest, options: AuthenticationOptions): Promise<Authentication> {
      const { method, url, headers, body } = request;
      const { toleranceSeconds, now } = options;
      const signature = signatures[firstIn(headers)];
      let rejection: Authentication | null = null;
      // Two schemes may share a header, as v1 and v1a do; then either may match.
      for (const [at, scheme] of schemes.entries()) {
        if (signatures[at] !== signature) continue;
        const signed = { method, url, headers, body, toleranceSeconds, now, scheme, secrets };
        const input = headerPrefix === undefined ? signed : { ...signed, headerPrefix };
        const result = await verify(input);
        if (result.ok) {
          const id = scheme.headers.id?.(headersOf);
          return { ok: true, signedId: id === undefined ? null : readHeader(request.headers, id) };
        }
        rejection ??= { ...result, explain: () => explain(input, result, options.now) };
      }
      return rejection as Authentication;
    },
  };
}

export function checkedSecrets(preset: string, secrets: readonly (Secret | undefined)[]): Secret[] {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError(`${preset}() needs \`secrets\`: a list of at least one.`);
  }
  return secrets.map((secret, at) => {
    const problem = secretProblem(preset, secret);
    if (problem === null) return secret as Secret;
    throw new TypeError(`secrets[${at}] of ${preset}() ${problem}`);
  });
}

/** How a secret is written whose bytes are the key of every scheme. */
export type KeyEncoding = Exclude<SecretEncoding, "whsec">;

const KEY_ENCODINGS = SECRET_ENCODINGS.filter((encoding) => encoding !== "whsec");

export function keysOf(
  preset: string,
  secrets: readonly (Secret | undefined)[],
  encoding: KeyEncoding,
): Uint8Array<ArrayBuffer>[] {
  return importedSecrets(preset, secrets, encoding, (_, key) => (key === null ? [] : [key]));
}

/**
 * The secrets of an endpoint that began with an imported one. A rotation generates a `whsec_…` or a key pair, which is used as it is
 * written. An imported secret may look the same, so both of its keys are accepted.
 */
export function keysAndGenerated(
  preset: string,
  secrets: readonly (Secret | undefined)[],
  encoding: KeyEncoding,
): Secret[] {
  return importedSecrets<Secret>(preset, secrets, encoding, (secret, key) => [
    ...(typeof secret === "string" && parseSecret(secret) !== null ? [secret] : []),
    ...(key === null ? [] : [key]),
  ]);
}

/** Throws if nothing can be used of a secret. */
function importedSecrets<Used extends Secret>(
  preset: string,
  secrets: readonly (Secret | undefined)[],
  encoding: KeyEncoding,
  use: (secret: Secret, key: Uint8Array<ArrayBuffer> | null) => readonly Used[],
): Used[] {
  if (!KEY_ENCODINGS.includes(encoding))
    throw new TypeError(
      `\`secretEncoding\` of ${preset}() is ${String(encoding)}. ${expectedOneOf(KEY_ENCODINGS)}`,
    );
  return checkedSecrets(preset, secrets).flatMap((secret, at) => {
    const used = use(secret, typeof secret === "string" ? keyOf(secret, encoding) : secret);
    if (used.length > 0) return used;
    throw new TypeError(
      `secrets[${at}] of ${preset}() is not a shared secret in the \`secretEncoding\` ${encoding}. Pass any other key as bytes.`,
    );
  });
}

function keyOf(secret: string, encoding: KeyEncoding): Uint8Array<ArrayBuffer> | null {
  // With a public key anyone could sign.
  return /^wh[ps]k_/.test(secret) ? null : importedKey(secret, encoding);
}

/** A mistake in a secret that would reject every delivery, as the end of a sentence. */
function secretProblem(preset: string, secret: unknown): string | null {
  if (secret instanceof Uint8Array && secret.length > 0) return null;
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

/** Schemes that use the secret as text would accept a truncated `whsec_…` and reject every delivery. */
function isUnusable(secret: Secret, schemes: readonly Scheme[]): boolean {
  if (typeof secret !== "string") return false;
  if (/^wh(sec|pk|sk)_/.test(secret)) return parseSecret(secret) === null;
  return !schemes.some((scheme) => canVerify(scheme, secret));
}

function canVerify({ key }: Scheme, secret: Secret): boolean {
  return verifyingKeyBytes(key, secret) !== null;
}
