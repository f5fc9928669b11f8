import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { readStored, writeStored } from "./browser-storage.ts";

afterEach(() => vi.unstubAllGlobals());

test("a stored value is read again", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  writeStored("views", { failed: { state: "failed" } });
  expect(readStored("views")).toEqual({ failed: { state: "failed" } });
  expect(readStored("others")).toBe(null);
});

test("unavailable storage is no error, whatever the browser throws", () => {
  const refuse = () => {
    throw new DOMException("The document is sandboxed.", "SecurityError");
  };
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse });
  expect(() => writeStored("views", {})).not.toThrow();
  expect(readStored("views")).toBe(null);
});

test("no other file of the dashboard uses the browser's storage", () => {
  const folder = join(import.meta.dirname, "..");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const touching = sources.filter((file) =>
    /\b(local|session)Storage\b/.test(readFileSync(join(folder, file), "utf8")),
  );
  expect(touching.sort()).toEqual([
    join("app", "browser-storage.test.ts"),
    join("app", "browser-storage.ts"),
  ]);
});
