// Finds `<link>` elements of a feed or an HTML head without a parser: in one pass, and only up to where a page shows
// content that others may have written.
import { type FoundLink, type Links, linksOf } from "./link-header.ts";

export function readLinkElements(text: string, base: string): Links {
  const found: FoundLink[] = [];
  for (const { name, inside } of tagsBeforeContent(text)) {
    // RSS embeds Atom under any prefix: `atom:link`, `atom10:link`.
    if (name === "link" || name.endsWith(":link")) {
      const attributes = attributesOf(inside);
      found.push({ href: attributes.get("href") ?? "", rel: attributes.get("rel") ?? "" });
    }
  }
  return linksOf(
    found.filter(({ href }) => href !== ""),
    base,
  );
}

interface Tag {
  readonly name: string;
  /** The text after the name. */
  readonly inside: string;
}

/** In entries, items and below `<body>`, links belong to something else or to someone else. */
const CONTENT = new Set(["body", "/head", "entry", "item"]);
/** Their content is text. A title of SVG or RSS contains only text, too. */
const TEXT_ELEMENTS = new Set(["script", "style", "title", "noscript", "template", "textarea"]);

function* tagsBeforeContent(text: string): Generator<Tag> {
  let at = text.indexOf("<");
  while (at !== -1) {
    const end = endOfMarkup(text, at);
    if (end === -1) return;
    const [, name = ""] = /^<(\/?[a-z][\w:.-]*)/i.exec(text.slice(at, at + MAX_NAME)) ?? [];
    const lower = name.toLowerCase();
    if (CONTENT.has(lower.replace(/^[^:]*:/, ""))) return;
    if (name !== "" && end - at <= MAX_TAG) {
      yield { name: lower, inside: text.slice(at + 1 + name.length, end - 1) };
    }
    const isTextOf = TEXT_ELEMENTS.has(lower) && text[end - 2] !== "/";
    const next = isTextOf ? indexOfClosing(text, lower, end) : end;
    at = next === -1 ? -1 : text.indexOf("<", next);
  }
}

const MAX_NAME = 64;
const MAX_TAG = 8_192;

/** The index after the markup; -1 if the text ends first. */
function endOfMarkup(text: string, at: number): number {
  if (text.startsWith("<!--", at)) return behind(text, "-->", at + 4);
  if (text.startsWith("<![CDATA[", at)) return behind(text, "]]>", at + 9);
  if (text.startsWith("<?", at)) return behind(text, "?>", at + 2);
  let quote = "";
  for (let index = at + 1; index < text.length; index++) {
    const character = text[index] as string;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return index + 1;
    // A quote without a preceding `=` is text, as in `<don't>`.
    else if ((character === '"' || character === "'") && /=\s*$/.test(text.slice(index - 8, index)))
      quote = character;
  }
  return -1;
}

function behind(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? -1 : found + mark.length;
}

function indexOfClosing(text: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, "gi");
  closing.lastIndex = from;
  return closing.exec(text)?.index ?? -1;
}

function attributesOf(inside: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = "", double, single, bare] of inside.matchAll(ATTRIBUTE)) {
    const key = name.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, decoded(double ?? single ?? bare ?? ""));
  }
  return attributes;
}

/** The lookbehind prevents matches that start inside a name, so no text is tried twice. */
const ATTRIBUTE = /(?<![^\s"'/])([^\s"'>/=]{1,64})\s{0,32}=\s{0,32}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Decodes the entities that occur in URLs. */
function decoded(value: string): string {
  return value.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole, ten, hex, name) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const point = ten === undefined ? Number.parseInt(hex, 16) : Number(ten);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    },
  );
}
