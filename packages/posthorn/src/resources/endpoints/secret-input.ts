// Reads the secrets that are given for an endpoint: Posthorn's own, or those of another sender in any encoding.
import {
  escapePointer,
  importedKey,
  isObject,
  isVendorScheme,
  MAX_SECRET_BYTES,
  parseSecret,
  rawSecret,
  SECRET_ENCODINGS,
  type SecretEncoding,
  schemeNamed,
  schemeProblems,
  signingKeyBytes,
  TOKEN_SCHEMES,
} from "@posthorn/wire";
import { isKeyPair } from "../../destinations/webhook/key-pair.ts";
import { type Field, oneOf, type Refuse } from "../read-fields.ts";

export interface GivenSecret {
  /** As it was given, to be returned once. */
  readonly text: string;
  /** As it is stored. */
  readonly value: string;
}

/** Null: Posthorn's own format, or any text if a vendor's scheme uses it as the key. */
export const readEncoding: Field<SecretEncoding | null> = oneOf(SECRET_ENCODINGS);

export function readSecret(
  schemes: readonly string[],
  encoding: SecretEncoding | null,
): Field<GivenSecret | undefined> {
  return (given, _, refuse) => {
    const stored = toStored(given, schemes, encoding);
    return "problem" in stored ? refuse(stored.problem) : { text: given as string, value: stored.value };
  };
}

/** Reads secrets by scheme, and checks that the schemes exist. Key pairs have only one format. */
export function readSchemeSecrets(
  encoding: SecretEncoding | null,
): Field<Readonly<Record<string, string>> | undefined> {
  return (given, _, refuse) => {
    if (!isObject(given))
      return refuse('schemeSecrets is an object of schemes and secrets, such as { "stripe": "whsec_…" }.');
    const read = Object.entries(given).map(([scheme, secret]) => {
      const refuseOne: Refuse = (message) => refuse(message, `/${escapePointer(scheme.slice(0, 100))}`);
      return [scheme, readSchemeSecret(scheme, secret, encoding, refuseOne)];
    });
    return Object.fromEntries(read);
  };
}

function readSchemeSecret(
  scheme: string,
  given: unknown,
  encoding: SecretEncoding | null,
  refuse: Refuse,
): string | undefined {
  const [unknown] = schemeProblems([scheme]);
  if (unknown !== undefined) return refuse(unknown);
  const { key } = schemeNamed(scheme);
  const stored = toStored(given, [scheme], key === "ed25519" ? null : encoding);
  if ("problem" in stored) return refuse(stored.problem);
  if (signingKeyBytes(key, stored.value) !== null) return stored.value;
  return refuse(`The signature scheme "${scheme}" cannot sign with this kind of secret.`);
}

/** Names of schemes for a message: labels are the caller's. */
export function quoted(schemes: readonly string[]): string {
  return schemes.map((name) => `"${name}"`).join(", ");
}

type Stored = { readonly value: string } | { readonly problem: string };

/** Returns a given secret as it is stored, or what is wrong with it. The secret is never quoted. */
export function toStored(
  given: unknown,
  schemes: readonly string[],
  encoding: SecretEncoding | null,
): Stored {
  if (encoding !== null && encoding !== "whsec") return imported(given, schemes, encoding);
  const parsed = typeof given === "string" ? parseSecret(given) : null;
  if (parsed?.kind === "signing" && !isKeyPair(parsed)) return { problem: NO_PAIR };
  if (parsed !== null && parsed.kind !== "public") return { value: given as string };
  const takesText = schemes.some((name) => isVendorScheme(name) && schemeNamed(name).key === "text");
  if (!takesText || encoding === "whsec") return { problem: OWN_SECRET };
  const isText = typeof given === "string" && given.length <= MAX_SECRET_BYTES && VISIBLE.test(given);
  // a key pair that does not parse is incomplete, and a public key cannot sign
  return isText && !/^wh(?:sk|pk|raw)_/.test(given) ? { value: given } : { problem: FOREIGN };
}

function imported(
  given: unknown,
  schemes: readonly string[],
  encoding: Exclude<SecretEncoding, "whsec">,
): Stored {
  const isPair = typeof given === "string" && /^wh(?:sk|pk)_/.test(given) && encoding === "text";
  const key = typeof given === "string" && !isPair ? importedKey(given, encoding) : null;
  if (key === null) return { problem: isPair ? PAIR_AS_TEXT : IMPORTED[encoding] };
  const sent = schemes.find((name) => TOKEN_SCHEMES.includes(name));
  if (sent !== undefined && !VISIBLE.test(Buffer.from(key).toString("latin1")))
    return { problem: `The scheme "${sent}" sends the secret in a header, so it is visible ASCII text.` };
  return { value: rawSecret(key) };
}

// Visible ASCII without spaces at the ends: a space copied along with a secret would be part of the key.
const VISIBLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const OWN_SECRET =
  "A secret is whsec_ and the base64 of 24 to 64 bytes, or whsk_ and the base64 of a 32-byte ed25519 seed and its " +
  "public key. Leave it out to have one generated. For the secret of another sender, give its encoding: text, base64 or hex.";
const NO_PAIR =
  "The public key in this whsk_ key does not match its seed, so its signatures could not be verified. Copy it again.";
const PAIR_AS_TEXT = "A whsk_ or whpk_ key is not a text to sign with. Leave out the encoding.";
const FOREIGN =
  `A secret of another sender is text of 1 to ${MAX_SECRET_BYTES} visible ASCII characters without spaces around it, ` +
  "and not a whsk_ or whpk_ key. Give others with their encoding: text, base64 or hex.";
const IMPORTED = {
  text: `A secret with the encoding text has 1 to ${MAX_SECRET_BYTES} bytes in UTF-8, no control characters and no spaces around it. Give others as base64 or hex.`,
  base64: `A secret with the encoding base64 is the base64 of 1 to ${MAX_SECRET_BYTES} bytes, in the standard or URL alphabet.`,
  hex: `A secret with the encoding hex has 1 to ${MAX_SECRET_BYTES} bytes, as two hexadecimal digits each.`,
};
