// What a receiver has to know about a signature scheme, as data: derived from the description that signs, so that snippets
// and pages cannot differ from it.
import {
  type Algorithm,
  headerNames,
  type KeyKind,
  type Scheme,
  type SecretEncoding,
  type TimeFormat,
} from "@posthorn/wire";

export interface SchemeFacts {
  readonly scheme: string;
  readonly algorithm: Algorithm;
  /** `hex` only for imported secrets. */
  readonly key: KeyKind | "hex";
  readonly encoding: Scheme["encoding"];
  readonly signatureHeader: string;
  /** The header has signatures with this prefix, such as `v1=`, between separators. It contains nothing but one of them if the separator is null. */
  readonly signaturePrefix: string;
  readonly separator: string | null;
  /** Whether the header has a signature for every valid secret. Otherwise the secret that expires first signs. */
  readonly holdsMany: boolean;
  /** The header with the signatures of newer secrets during a rotation. */
  readonly nextSignatureHeader: string | null;
  /** Where the timestamp is: in its own header, or after a prefix in the signature header. Null if none is sent. */
  readonly timestamp:
    | { readonly header: string; readonly format: TimeFormat }
    | { readonly prefix: string; readonly format: TimeFormat }
    | null;
  readonly idHeader: string | null;
  /** The signed text: literal pieces, and `{id}`, `{timestamp}`, `{body}`, `{method}` and `{url}` in place of the values. */
  readonly signed: readonly string[];
  /** The query parameter of the URL that contains the body's SHA-256, if that is signed instead of the body. */
  readonly digestParameter: string | null;
  /** The member of the body that contains the time, if only the body has it. */
  readonly timeInBody: string | null;
}

const PLACES = { id: "{id}", timestamp: "{timestamp}", method: "{method}", url: "{url}" } as const;
const DIGEST = "0".repeat(64);

/** Returns null for HTTP Message Signatures: their headers state what is signed. */
export function schemeFacts(
  scheme: Scheme,
  headerPrefix: string,
  secretEncoding: SecretEncoding,
): SchemeFacts | null {
  if (scheme.isMessageSignature) return null;
  const names = headerNames(headerPrefix);
  const { signature, signatureNext, timestamp, id } = scheme.headers;
  const format = scheme.timeFormat ?? "seconds";
  const written = readFormat(scheme);
  const timestampHeader = timestamp?.(names);
  return {
    scheme: scheme.name,
    algorithm: scheme.algorithm,
    key: keyOf(scheme, secretEncoding),
    encoding: scheme.encoding,
    signatureHeader: signature(names),
    signaturePrefix: written.signaturePrefix,
    separator: written.separator,
    holdsMany: scheme.format.holdsMany,
    nextSignatureHeader: signatureNext?.(names) ?? null,
    timestamp:
      timestampHeader !== undefined
        ? { header: timestampHeader, format }
        : written.timestampPrefix === null
          ? null
          : { prefix: written.timestampPrefix, format },
    idHeader: id?.(names) ?? null,
    signed: signedPieces(scheme),
    digestParameter: scheme.urlToSend === undefined ? null : "bodySHA256",
    timeInBody: scheme.timeInBody?.join(".") ?? null,
  };
}

/** Every scheme signs with the bytes of an imported secret. A token is sent as it is. */
export function keyOf({ key, algorithm }: Scheme, secretEncoding: SecretEncoding): SchemeFacts["key"] {
  const isImported = secretEncoding !== "whsec" && key !== "ed25519" && algorithm !== "token";
  return isImported ? secretEncoding : key;
}

/** Reads the format from a header that it writes. */
function readFormat({ format, algorithm }: Scheme) {
  const one = format.write(["A"], "T");
  const added = format.write(["A", "B"], "T").slice(one.length);
  const timestampEnd = one.indexOf("T");
  return {
    separator: algorithm === "token" ? null : added.charAt(0),
    signaturePrefix: algorithm === "token" ? "" : added.slice(1, -1),
    timestampPrefix: timestampEnd === -1 ? null : one.slice(0, timestampEnd),
  };
}

function signedPieces({ signedParts, urlToSend }: Scheme): string[] {
  const url = urlToSend?.(PLACES.url, DIGEST) ?? PLACES.url;
  const text = signedParts({ ...PLACES, url, body: new Uint8Array() })
    .map((part) => (typeof part === "string" ? part : "{body}"))
    .join("")
    .replace(url, PLACES.url);
  return text.split(/(\{[a-z]+\})/).filter((piece) => piece !== "");
}
