import fc from "fast-check";
import { expect, test } from "vitest";
import { idOf, keyDigest, keyIdOf, mintKey } from "./key-text.ts";

test("a new key contains its id, and its digest covers the whole text", () => {
  for (const kind of ["phk", "pht"] as const) {
    const { id, text, digest } = mintKey(kind);
    expect(text).toMatch(new RegExp(`^${kind}_${id}_[0-9A-Za-z]{38}$`));
    expect(keyIdOf(text)).toBe(id);
    expect(digest).toEqual(keyDigest(text));
    expect(digest).toHaveLength(32);
  }
});

test("links and sessions are not accepted as keys or as each other", () => {
  for (const kind of ["phl", "phs"] as const) {
    const { id, text } = mintKey(kind);
    expect(keyIdOf(text)).toBeNull();
    expect([idOf(text, "phl"), idOf(text, "phs")]).toEqual(kind === "phl" ? [id, null] : [null, id]);
  }
  const { text } = mintKey("phk");
  expect([idOf(text, "phl"), idOf(text, "phs")]).toEqual([null, null]);
  expect(idOf(mintKey("phl").text.replace("phl", "phs"), "phs")).toBeNull();
});

test("a key with one wrong character is not a key", () => {
  const { text } = mintKey("phk");
  const characters = fc.constantFrom(..."0123456789ABCXYZabcxyz_-.");
  fc.assert(
    fc.property(fc.nat(text.length - 1), characters, (place, character) => {
      fc.pre(text[place] !== character);
      expect(keyIdOf(text.slice(0, place) + character + text.slice(place + 1))).toBeNull();
    }),
  );
  for (const wrong of ["", text.slice(1), text.slice(0, -1), `${text}0`, ` ${text}`, `${text}\n`]) {
    expect(keyIdOf(wrong)).toBeNull();
  }
});
