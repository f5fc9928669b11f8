// Any sender that signs with an HMAC: its headers, the signed text, and where id and type are, as configuration.
import {
  type Algorithm,
  expectedOneOf,
  type Path,
  type Scheme,
  signatureFormats,
  type TimeFormat,
  unescapePointer,
  type Vendor,
} from "@posthorn/wire";
import { rejectUnknownOptions, wholeNumber } from "../options.ts";
import type { Source } from "../source.ts";
import { type KeyEncoding, keysOf, type SigningOptions } from "./signing-source.ts";
import { describedSource } from "./vendor-source.ts";

export interface HmacOptions extends SigningOptions {
  /** The header with the signature. */
  readonly header: string;
  /** The content of that header: `{signature}`, `sha256={signature}`, `t={timestamp},v1={signature}`, … Default `{signature}`. */
  readonly format?: string | undefined;
  /** The header with the signed time, if `format` does not contain it. */
  readonly timestampHeader?: string | undefined;
  /** Default `seconds`. */
  readonly timestampFormat?: TimeFormat | undefined;
  /** The signed text. Default `{timestamp}.{body}`, or `{body}` if there is no timestamp. An `{id}` is followed by a dot. */
  readonly content?: string | undefined;
  /** Default `sha256`. */
  readonly algorithm?: keyof typeof ALGORITHMS | undefined;
  /** The encoding of the signature. Default `hex`. */
  readonly encoding?: (typeof ENCODINGS)[number] | undefined;
  /** How a secret becomes the key: its own characters, or the bytes that they encode. Default `text`. */
  readonly secretEncoding?: KeyEncoding | undefined;
  /** Default: the receiver's. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * Where the event's id is. In a header, it is signed only if `content` contains `{id}`: otherwise a captured request can be sent again
   * under another id. `digest`: SHA-256 of the body, so that two events with the same bytes count as one.
   */
  readonly id: HmacField | "digest";
  /** Where the event's type is, or the type of all events. A header is not signed. */
  readonly type: HmacField | { readonly fixed: string };
  /** The part of the body that is the event's `data`. Default: the whole body. */
  readonly data?: { readonly pointer: string } | undefined;
  /** False if deliveries of one event may differ in their bytes. Default true. */
  readonly hasStableBody?: boolean | undefined;
}

/** A header, or a member of the body as a JSON Pointer (RFC 6901) such as `/event/id`. */
export type HmacField = { readonly header: string } | { readonly pointer: string };

const optionNames = [
  "secrets",
  "name",
  "header",
  "format",
  "timestampHeader",
  "timestampFormat",
  "content",
  "algorithm",
  "encoding",
  "secretEncoding",
  "toleranceSeconds",
  "id",
  "type",
  "data",
  "hasStableBody",
] as const satisfies readonly (keyof HmacOptions)[];

const ALGORITHMS = {
  sha256: "hmac-sha256",
  sha512: "hmac-sha512",
  sha1: "hmac-sha1",
} as const satisfies Readonly<Record<string, Algorithm>>;
const ENCODINGS = ["hex", "base64"] as const;
const TIME_FORMATS = ["seconds", "milliseconds", "rfc3339"] as const;

/** A sender without a preset that signs with an HMAC. */
export function hmac(options: HmacOptions): Source {
  rejectUnknownOptions("hmac()", options, optionNames);
  const { name = "hmac", toleranceSeconds, id, type, data, hasStableBody = true } = options;
  const vendor: Vendor = {
    scheme: schemeOf(options),
    id: [id === "digest" ? { digest: "body" } : readField("id", id)],
    type: [isFixed(type) ? { fixed: fixedType(type.fixed) } : readField("type", type)],
    time: [],
    data: data === undefined ? [] : [pathOf("data", data?.pointer)],
    hasStableBody,
  };
  const secrets = keysOf("hmac", options.secrets, options.secretEncoding ?? "text");
  if (toleranceSeconds !== undefined)
    wholeNumber("`toleranceSeconds` of hmac()", toleranceSeconds, 1, 86_400);
  return describedSource(vendor, { name, secrets, toleranceSeconds });
}

function schemeOf(options: HmacOptions): Scheme {
  const { format = SIGNATURE, timestampHeader, id } = options;
  const hasTime = timestampHeader !== undefined || format.includes(TIMESTAMP);
  const { content = hasTime ? `${TIMESTAMP}.${BODY}` : BODY } = options;
  const idHeader = content.includes(ID) ? headerOf(id) : undefined;
  if (!CONTENT.test(content)) throw invalid("content", content, "such as {timestamp}.{body}");
  if (timestampHeader !== undefined && format.includes(TIMESTAMP))
    throw new TypeError("hmac() has two timestamps: remove `timestampHeader`, or {timestamp} from `format`.");
  if (hasTime !== content.includes(TIMESTAMP))
    throw new TypeError(
      hasTime
        ? "`content` of hmac() does not contain {timestamp}. A timestamp that is not signed protects nothing: leave it out."
        : "`content` of hmac() contains {timestamp}: add `timestampHeader`, or {timestamp} to `format`.",
    );
  if (idHeader === null) throw new TypeError("`content` of hmac() contains {id}, so `id` must be a header.");
  const head = content.slice(0, -BODY.length);
  return {
    name: format,
    algorithm: ALGORITHMS[oneOf("algorithm", options.algorithm ?? "sha256", algorithmNames)],
    key: "text",
    encoding: oneOf("encoding", options.encoding ?? "hex", ENCODINGS),
    timeFormat: oneOf("timestampFormat", options.timestampFormat ?? "seconds", TIME_FORMATS),
    // The timestamp first: it contains no placeholder.
    signedParts: ({ id, timestamp, body }) =>
      head === "" ? [body] : [head.replace(TIMESTAMP, timestamp).replace(ID, () => id), body],
    headers: {
      signature: headerNamed("header", options.header),
      ...(timestampHeader !== undefined && { timestamp: headerNamed("timestampHeader", timestampHeader) }),
      ...(idHeader !== undefined && { id: headerNamed("id", idHeader) }),
    },
    format: formatOf(format),
  };
}

const [SIGNATURE, TIMESTAMP, ID, BODY] = ["{signature}", "{timestamp}", "{id}", "{body}"] as const;
const algorithmNames = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[];

/** The separators make the end of each part unambiguous: an id has no dot, and a timestamp no other character than its own. */
const CONTENT = /^[^{}]*(?:\{id\}\.[^{}]*)?(?:\{timestamp\}[^{}\w][^{}]*)?\{body\}$/;

function formatOf(format: string): Scheme["format"] {
  const [, label] = /^([^{}\s]*)\{signature\}$/.exec(format) ?? [];
  if (label?.endsWith(",")) return signatureFormats.versionedList(label.slice(0, -1));
  if (label !== undefined) return signatureFormats.single(label);
  const timeFirst = /^(\w+)=\{timestamp\}([,;])(\w+)=\{signature\}$/.exec(format);
  const timeLast = /^(\w+)=\{signature\}([,;])(\w+)=\{timestamp\}$/.exec(format);
  const [, first = "", separator = "", second = ""] = timeFirst ?? timeLast ?? [];
  if (separator === "") throw invalid("format", format, "such as sha256={signature}");
  const [timestamp, signature] = timeFirst === null ? [second, first] : [first, second];
  return signatureFormats.fields({ timestamp, signature, separator });
}

function isFixed(type: HmacOptions["type"]): type is { readonly fixed: string } {
  return typeof type === "object" && type !== null && "fixed" in type;
}

function fixedType(type: unknown): string {
  if (typeof type === "string" && type !== "") return type;
  throw invalid("type", type, 'a type such as { fixed: "order.paid" }');
}

/** Null if it is not a header. */
function headerOf(field: HmacOptions["id"]): string | null {
  return typeof field === "object" && field !== null && "header" in field ? field.header : null;
}

function readField(option: "id" | "type", field: unknown): { header: string } | { body: Path } {
  const { header, pointer } = (field ?? {}) as Partial<{ header: string; pointer: string }>;
  if (header !== undefined && pointer !== undefined)
    throw new TypeError(`\`${option}\` of hmac() has a header and a pointer. Give one of them.`);
  if (header !== undefined) return { header: headerNamed(option, header)() };
  if (pointer !== undefined) return { body: pathOf(option, pointer) };
  const others = option === "id" ? '"digest"' : '{ fixed: "order.paid" }';
  throw new TypeError(
    `hmac() needs \`${option}\`: { header: "X-Event-Id" }, { pointer: "/id" } or ${others}.`,
  );
}

function pathOf(option: string, pointer: unknown): Path {
  if (typeof pointer === "string" && JSON_POINTER.test(pointer))
    return pointer.slice(1).split("/").map(unescapePointer);
  throw invalid(option, pointer, "a JSON Pointer such as /event/id");
}

const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;

function headerNamed(option: string, header: string): () => string {
  if (typeof header === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(header)) return () => header;
  throw invalid(option, header, "the name of a header");
}

function oneOf<Name extends string>(option: string, name: Name, names: readonly Name[]): Name {
  if (names.includes(name)) return name;
  throw new TypeError(`\`${option}\` of hmac() is ${String(name)}. ${expectedOneOf(names)}`);
}

function invalid(option: string, value: unknown, expected: string): TypeError {
  return new TypeError(`\`${option}\` of hmac() must be ${expected}, not "${String(value).slice(0, 60)}".`);
}
