import { expect, test } from "vitest";
import { decode, encode } from "./encoding.ts";

test("base64 has one spelling: unused bits that are set, and missing or surplus padding, are rejected", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const last of alphabet) {
    for (const text of [`A${last}==`, `AA${last}=`, `AAA${last}`]) {
      const bytes = Buffer.from(text, "base64");
      const isCanonical = bytes.toString("base64") === text;
      const decoded = decode("base64", text);
      expect(decoded && encode("base64", decoded), text).toBe(isCanonical ? text : null);
    }
  }
  for (const text of ["A", "AA", "AAA", "A===", "====", "AA==AA==", "AA=A", "AA==="]) {
    expect(decode("base64", text), text).toBeNull();
  }
  expect(decode("base64", "")).toEqual(new Uint8Array(0));
});
