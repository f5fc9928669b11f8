import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { readStored, writeStored } from "./browser-storage.ts";

afterEach(() => vi.unstubAllGlobals());

test("unavailable storage is not an error, whatever the browser throws", () => {
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
