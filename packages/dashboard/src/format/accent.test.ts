import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { accentFor, contrast, HARDEST_GROUNDS, READABLE } from "./accent.ts";

/** Colours across the whole range, in eight steps per channel. */
const channel = [0, 32, 64, 96, 128, 160, 192, 224, 255].map((value) => value.toString(16).padStart(2, "0"));
const colours = channel.flatMap((red) =>
  channel.flatMap((green) => channel.map((blue) => `#${red}${green}${blue}`)),
);

test.each(["light", "dark"] as const)("every colour is readable in the %s theme", (theme) => {
  for (const colour of colours) {
    const { ground, onGround, ink } = accentFor(theme, colour);
    expect([colour, contrast(onGround, ground) >= READABLE]).toEqual([colour, true]);
    expect([colour, contrast(ink, HARDEST_GROUNDS[theme]) >= READABLE]).toEqual([colour, true]);
  }
});

test("a readable colour is unchanged", () => {
  expect(accentFor("light", "#0a5d45")).toEqual({ ground: "#0a5d45", onGround: "#ffffff", ink: "#0a5d45" });
  expect(accentFor("dark", "#f2a65a")).toEqual({ ground: "#f2a65a", onGround: "#000000", ink: "#f2a65a" });
});

test("the backgrounds are those of the themes", () => {
  const tokens = readFileSync(new URL("../design/tokens.css", import.meta.url), "utf8");
  const [, light, dark] = /--color-raised: light-dark\((#\w{6}), (#\w{6})\);/.exec(tokens) ?? [];
  expect({ light, dark }).toEqual(HARDEST_GROUNDS);
});
