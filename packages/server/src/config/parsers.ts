// Parsers of setting values. A parser throws an error that says what is expected.
import { isIP } from "node:net";
import { camelCase, closest, isObject, isUriReference, parseUrl, snakeCase } from "@posthorn/wire";
import type { SourceOptions } from "posthorn";
import { DELIVERY_MODES, type DeliveryMode, isMailAddress } from "posthorn/internal";
import type { MailServer } from "../mail.ts";

export type Parser<T> = (text: string) => T;

export class InvalidValueError extends Error {}

export const anyText: Parser<string> = (text) => text;

export function wholeNumber({ min, max }: { min: number; max: number }): Parser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidValueError(`must be a whole number from ${min} to ${max}`);
  };
}

/** A whole number, or a word with a meaning of its own. */
export function wholeNumberOr<const Word extends string>(
  word: Word,
  bounds: { min: number; max: number },
): Parser<number | Word> {
  const number = wholeNumber(bounds);
  return (text) => {
    if (text.toLowerCase() === word) return word;
    try {
      return number(text);
    } catch (error) {
      const hint = closest(text.toLowerCase(), [word]) === null ? "" : ` (did you mean ${word}?)`;
      throw new InvalidValueError(`${(error as Error).message}, or ${word}${hint}`);
    }
  };
}

export const yesOrNo: Parser<boolean> = (text) => {
  if (/^(?:true|1|yes|on)$/i.test(text)) return true;
  if (/^(?:false|0|no|off)$/i.test(text)) return false;
  throw new InvalidValueError("must be true or false");
};

/** A yes or no, or one of the modes. */
export const deliveryMode: Parser<DeliveryMode> = (text) => {
  const mode = DELIVERY_MODES.find((known) => known === text.toLowerCase());
  if (mode !== undefined) return mode;
  try {
    return yesOrNo(text) ? "on" : "hold";
  } catch {
    throw new InvalidValueError(`must be true, false, ${DELIVERY_MODES.join(", ")}`);
  }
};

export function oneOf<const T extends string>(...allowed: readonly T[]): Parser<T> {
  return (text) => {
    const value = allowed.find((candidate) => candidate === text.toLowerCase());
    if (value === undefined) throw new InvalidValueError(`must be one of ${allowed.join(", ")}`);
    return value;
  };
}

export function list<T>(item: Parser<T>): Parser<readonly T[]> {
  return (text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map(item);
}

/** Rejects what somebody typed instead of generating it: 32 random hexadecimal digits are about 14 different ones. */
export const generatedKey: Parser<string> = (text) => {
  if (text.length < 32) throw new InvalidValueError("must have at least 32 characters");
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new InvalidValueError("must have visible ASCII characters only, without spaces");
  }
  if (new Set(text).size >= 8 && !REPEATED.test(text)) return text;
  throw new InvalidValueError("must be random, for example the output of: openssl rand -hex 32");
};

const REPEATED = /^(.{1,16}?)\1+.{0,15}$/;

/** A preset, gaps, or a JSON object as in the API. The settings file has it as text, a list or a map. */
export const retryPolicy: Parser<unknown> = (text) => {
  const value = jsonOf(text);
  if (isObject(value)) return renamed(value, camelCase);
  if (Array.isArray(value)) return value.join();
  if (typeof value === "string") return value;
  if (!text.startsWith("{")) return text;
  throw new InvalidValueError(
    'is not valid JSON. Write a preset, gaps such as 30s,5m,1h, or {"exponential":{"base":"1m","cap":"1d","max_attempts":12}}',
  );
};

/** The inverse of `retryPolicy`. */
export function writtenPolicy(policy: unknown): unknown {
  return renamed(policy, snakeCase);
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, below]) => [rename(name), renamed(below, rename)]);
  return Object.fromEntries(entries);
}

/** The values may be credentials, so no message quotes them. */
export const jsonMap: Parser<Readonly<Record<string, string>>> = (text) => {
  const map = jsonOf(text);
  if (isObject(map) && Object.values(map).every((value) => typeof value === "string"))
    return map as Readonly<Record<string, string>>;
  throw new InvalidValueError('must be a JSON object of names and texts, such as {"X-Team":"billing"}');
};

/** Undefined if it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const cidr: Parser<string> = (text) => {
  const [, address = "", bits = ""] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) return text;
  throw new InvalidValueError(`has "${text}", which is not an address range such as 10.0.0.0/8 or fd00::/8`);
};

export const httpUrl: Parser<string> = (text) => {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new InvalidValueError("must be a URL such as https://hooks.example.com, without ? and #");
  }
  return url.href.replace(/\/$/, "");
};

export const hostName: Parser<string> = (text) => {
  if (/^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$|^\[[\da-f:.]+\]$/i.test(text)) return text.toLowerCase();
  throw new InvalidValueError(
    `has "${text}", which is not a host name such as hooks.example.com, without a port`,
  );
};

/** Scheme, host and port only, because it is written into a header. */
export const webOrigin: Parser<string> = (text) => {
  const url = parseUrl(text);
  if (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    // a URL host may contain ; and *, which have a meaning in a policy
    /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(url.hostname) &&
    [url.origin, `${url.origin}/`].includes(text.toLowerCase())
  )
    return url.origin;
  throw new InvalidValueError(`has "${text}", which is not an origin such as https://app.example.com`);
};

export const shortText: Parser<string> = (text) => {
  if (text.length <= 60 && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidValueError("must be text of at most 60 characters");
};

/** The source of CloudEvents; `{tenant}` is replaced by the tenant id. */
export const uriReference: Parser<string> = (text) => {
  if (text.length <= 500 && isUriReference(text.replaceAll("{tenant}", "t"))) return text;
  throw new InvalidValueError("must be a URI reference such as https://shop.example/{tenant}");
};

/** The pages load images only from their own host and from `data:`. */
export const imageUrl: Parser<string> = (text) => {
  const isPath = /^\/(?![/\\])[\x21-\x7e]*$/.test(text);
  const isData = /^data:image\/(?:png|jpeg|webp|gif|svg\+xml)[;,][\x21-\x7e]+$/.test(text);
  if ((isPath || isData) && text.length <= 32_768) return text;
  throw new InvalidValueError(
    "must be a path on the same host such as /logo.svg, or an image as a data: URL of at most 32 KB",
  );
};

export const hexColour: Parser<string> = (text) => {
  if (/^#[\da-f]{6}$/i.test(text)) return text.toLowerCase();
  throw new InvalidValueError("must be a colour such as #0a7d55");
};

export const postgresUrl: Parser<string> = (text) => {
  if (/^postgres(ql)?:\/\//.test(text)) return text;
  throw new InvalidValueError("must be a URL such as postgres://user:password@host:5432/database");
};

/** Parsed here because the mailer would accept options from the query, such as one that disables certificate checks. */
export const smtpUrl: Parser<MailServer> = (text) => {
  const url = /^smtps?:\/\//.test(text) ? parseUrl(text) : null;
  const rest = url === null ? "" : url.search + url.hash + url.pathname.replace(/^\/$/, "");
  const credentials = url === null ? null : decoded(url.username, url.password);
  if (url === null || credentials === null || url.hostname === "" || rest !== "") {
    throw new InvalidValueError(
      "must be a URL such as smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587, with special " +
        "characters of the password as %XX and nothing after the port",
    );
  }
  const isSecure = url.protocol === "smtps:";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    user: credentials.user || null,
    password: credentials.password || null,
  };
};

function decoded(user: string, password: string): { user: string; password: string } | null {
  try {
    return { user: decodeURIComponent(user), password: decodeURIComponent(password) };
  } catch {
    return null;
  }
}

/** `posthorn@example.com`, or with a name: `Webhooks <posthorn@example.com>`. */
export const mailSender: Parser<string> = (text) => {
  const unquoted = text.replace(/^"([^"]*)"(?= <)/, "$1");
  const [, name, named, bare] = /^(?:([^<>"\\\p{Cc}]{0,100}) <([^<>]*)>|([^<>]*))$/u.exec(unquoted) ?? [];
  const address = named ?? bare ?? "";
  if (isMailAddress(address)) return name ? `"${name}" <${address}>` : address;
  throw new InvalidValueError(
    "must be an address such as posthorn@example.com, or a name with one: Webhooks <posthorn@example.com>",
  );
};

/** One `id:base64` pair. The value is never quoted in a message. */
export const encryptionKey: Parser<string> = (text) => {
  const [, base64 = ""] = /^[A-Za-z0-9_.-]{1,32}:([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  if (Buffer.from(base64, "base64").length === 32) return text;
  throw new InvalidValueError(
    "must be comma-separated id:base64 pairs with 32 bytes each; create one with: " +
      `echo "k1:$(openssl rand -base64 32)"`,
  );
};

/** A JSON list of sources; the library validates them. Its options have their names in snake_case here. */
export const sourceList: Parser<readonly SourceOptions[]> = (text) => {
  let sources: unknown;
  try {
    sources = JSON.parse(text);
  } catch {
    throw new InvalidValueError("must be valid JSON");
  }
  if (!Array.isArray(sources)) throw new InvalidValueError("must be a JSON list of sources");
  return sources.map(withOptionNames) as unknown as readonly SourceOptions[];
};

function withOptionNames(source: unknown): unknown {
  if (!isObject(source)) return source;
  const { columns, values } = source;
  return {
    ...camelCased(source),
    ...(isObject(columns) && { columns: camelCased(columns) }),
    ...(isObject(values) && { values: camelCased(values) }),
  };
}

function camelCased(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [camelCase(name), value]));
}

export const encryptionKeys: Parser<readonly string[]> = (text) => {
  const keys = list(encryptionKey)(text);
  const ids = keys.map((key) => key.slice(0, key.indexOf(":")));
  if (new Set(ids).size !== ids.length) throw new InvalidValueError("has two keys with the same id");
  return keys;
};
