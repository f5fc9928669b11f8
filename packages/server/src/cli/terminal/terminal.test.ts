import { describe, expect, test } from "vitest";
import { barText, progressBar } from "./progress-bar.ts";
import { facts, table } from "./table.ts";
import { wantsColors } from "./terminal.ts";
import { clean, cleanLines, distanceText, jsonText, safeJson, timeText, toned } from "./text.ts";

const plain = { columns: null, hasColors: false };

describe("untrusted text", () => {
  test.each(["\u001b[2J", "\r", "\n", "\u0000", "\u007f", "\u009b31m", "\u2028", "\u202e", "\u2066"])(
    "%j cannot control the terminal",
    (text) => {
      expect(clean(`a${text}b`)).toMatch(/^a\ufffd.*b$/);
      expect(JSON.parse(jsonText({ text }))).toEqual({ text });
      expect(jsonText(text, 0)).toMatch(/^[\x20-\x7e]+$/);
    },
  );

  test("line breaks are kept where they are allowed", () => {
    expect(safeJson('{\r\n"a":\t"\u2028"}')).toBe('{ \n"a":\t"\\u2028"}');
    expect(cleanLines("a\n\tb\u001b\r")).toBe("a\n\tb\ufffd\ufffd");
    expect(clean("é 漢 👍")).toBe("é 漢 👍");
  });
});

describe("a table", () => {
  const columns = [
    { title: "ID", value: ({ id }: { id: string; url: string }) => id },
    { title: "URL", value: ({ url }: { id: string; url: string }) => url, canShrink: true },
  ];
  const rows = [{ id: "ep_0197a3c2-7d1e", url: "https://example.com/a/very/long/path" }];

  test("is not cut in a pipe", () => {
    expect(table(plain, columns, rows)).toBe(
      "ID                URL\nep_0197a3c2-7d1e  https://example.com/a/very/long/path",
    );
  });

  test("fits the terminal by cutting long text but not ids", () => {
    const lines = table({ ...plain, columns: 32 }, columns, rows).split("\n");
    expect(lines[1]).toBe("ep_0197a3c2-7d1e  https://examp…");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(32);
    expect(table({ ...plain, columns: 10 }, columns, rows)).toContain("ep_0197a3c2-7d1e  https:/…");
  });

  test("shows missing values as a dash, and colours only if enabled", () => {
    expect(
      facts(plain, [
        ["a", null],
        ["long", 0],
      ]),
    ).toBe("a     –\nlong  0");
    expect(toned({ hasColors: true }, "bad", "x")).toBe("\u001b[31mx\u001b[39m");
    expect(toned({ hasColors: false }, "bad", "x")).toBe("x");
  });
});

test.each<[env: Record<string, string>, isTerminal: boolean, expected: boolean]>([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ NO_COLOR: "" }, true, true],
  [{ TERM: "dumb" }, true, false],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, false],
])("colours with %j on a terminal (%s): %s", (env, isTerminal, expected) => {
  expect(wantsColors(env, isTerminal)).toBe(expected);
});

test("times are in UTC, and distances use the largest unit", () => {
  const now = new Date("2026-11-15T10:00:00Z");
  expect(timeText("2026-11-15T10:00:00.5+01:00")).toBe("2026-11-15 09:00:00.500Z");
  expect([timeText(null), timeText("x\u001b")]).toEqual(["–", "x\ufffd"]);
  const after = (seconds: number) =>
    distanceText(new Date(now.getTime() + seconds * 1000).toISOString(), now);
  expect([4, 600, 7200, 172_800].map(after)).toEqual(["in 4 s", "in 10 min", "in 2 h", "in 2 days"]);
  // never in the past
  expect([0.4, 0, -0.1, -60].map(after)).toEqual(["now", "now", "now", "now"]);
});

test("a progress bar is drawn and removed only on a terminal", () => {
  const drawn: string[] = [];
  const draw = (text: string): void => void drawn.push(text);
  for (const isInteractive of [false, true]) {
    const bar = progressBar({ isInteractive, draw }, "Reading");
    bar.update(1, 2);
    bar.end();
  }
  expect(drawn).toEqual([`\r\u001b[2KReading [${"#".repeat(12)}${".".repeat(12)}] 1 of 2`, "\r\u001b[2K"]);
  expect([barText(3, null), barText(9, 2)]).toEqual(["3", `[${"#".repeat(24)}] 9 of 2`]);
});
