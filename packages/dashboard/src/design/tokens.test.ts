// The dashboard uses nothing but the design tokens, and each pair of text and ground is readable.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { contrast, READABLE } from "../format/accent.ts";

const src = fileURLToPath(new URL("..", import.meta.url));
const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(src + path, "utf8") }));

/** What is not made of tokens, by the reason. A class is preceded by a quote, a space or a variant. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  "a text size that is not xs, sm, md or xl": /(?<=["'`\s:!])text-(?:base|lg|[2-9]xl|\[)\S*/g,
  "a line height that is not that of its text size": /(?<=["'`\s:!])leading-\S+/g,
  "a size of monospaced text":
    /font-mono[^"'`]*(?<=\s)text-(?:sm|md|xl)\b|(?<=["'`\s:!])text-(?:sm|md|xl)\b[^"'`]*font-mono/g,
  "a weight that the typeface does not have":
    /(?<=["'`\s:!])font-(?:thin|light|extralight|bold|extrabold|black)\b/g,
  "a raw colour": /["'`(\s[](?:#(?:[0-9a-fA-F]{3,4}){1,2}\b(?![\w-])|(?:rgba?|hsla?|oklch|oklab)\((?!\$))/g,
  "a colour of Tailwind's palette":
    /(?<=["'`\s:!])(?:bg|text|border|fill|stroke|outline|ring|accent|shadow)-(?:black|white|\[(?!\S*var\(--color-)|[a-z]+-\d{2,3}\b)\S*/g,
  "spacing off the grid":
    /(?<=["'`\s:!])-?(?:[pm][xytrbl]?|gap(?:-[xy])?|space-[xy])-(?:\[\S+|[2-9]\.\d+|\d{2,}\.\d+)/g,
  "a radius that is not sm, md, lg or full":
    /(?<=["'`\s:!])rounded(?:-[trbl]{1,2})?-(?:xl|[2-9]xl|xs|\[)\S*/g,
};

function violations(text: string): string[] {
  return Object.entries(FORBIDDEN).flatMap(([reason, pattern]) =>
    (text.match(pattern) ?? []).map((found) => `${found.trim()}: ${reason}`),
  );
}

test("no component uses a text size, colour, weight, spacing or radius that is no token", () => {
  const found = sources.flatMap(({ path, text }) =>
    // derives colours from the configured one
    path === "format/accent.ts" ? [] : violations(text).map((what) => `${path}: ${what}`),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

test.each([
  `className="p-2 text-lg"`,
  `className="sm:text-[17px]"`,
  `className="font-mono text-md"`,
  `className="leading-4"`,
  `className="font-bold"`,
  `style={{ color: "#ff0000" }}`,
  `"rgb(1 2 3)"`,
  `className="bg-black/50"`,
  `className="hover:text-red-500"`,
  `className="bg-[#123456]"`,
  `className="px-2.5"`,
  `className="-mt-[7px]"`,
  `className="rounded-2xl"`,
])("%s is refused", (text) => {
  expect(violations(text)).not.toEqual([]);
});

test.each([
  `className="px-2 py-1.5 gap-0.5 text-sm rounded-full bg-ok-ground/30 text-left"`,
  `h-[41px] w-[min(40rem,100vw)] top-[calc(1px+2px)] text-xs font-mono border-b border-line-strong`,
  `href="#content"`,
])("%s is accepted", (text) => {
  expect(violations(text)).toEqual([]);
});

const tokens = readFileSync(new URL("tokens.css", import.meta.url), "utf8");

/** The value of a colour in both themes. */
function colour(name: string): readonly [light: string, dark: string] {
  const pattern = new RegExp(`--color-${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`);
  const [, light, dark, both] = pattern.exec(tokens) ?? [];
  if (light !== undefined && dark !== undefined) return [light, dark];
  if (both !== undefined) return [both, both];
  throw new Error(`There is no colour ${name}.`);
}

const GROUNDS = ["canvas", "surface", "raised"];
const STATES = ["ok", "calm", "warn", "bad"];
const PAIRS = [
  ...["ink", "muted", "accent-ink", ...STATES].flatMap((ink) => GROUNDS.map((ground) => [ink, ground])),
  ...STATES.flatMap((state) => [
    [state, `${state}-ground`],
    ["ink", `${state}-ground`],
  ]),
  ["on-accent", "accent"],
  ["on-brand", "brand"],
].map(([ink = "", ground = ""]) => ({ ink, ground }));

describe("contrast", () => {
  test.each(PAIRS)("$ink on $ground is readable in both themes", ({ ink, ground }) => {
    for (const theme of [0, 1] as const)
      expect(contrast(colour(ink)[theme], colour(ground)[theme])).toBeGreaterThanOrEqual(READABLE);
  });

  test("the ring of the focus is visible on every ground", () => {
    for (const ground of GROUNDS)
      for (const theme of [0, 1] as const)
        expect(contrast(colour("focus")[theme], colour(ground)[theme])).toBeGreaterThanOrEqual(3);
  });
});
