import { expect, test } from "vitest";
import { parseUrl } from "./parse-url.ts";

test("a host with letters such as ü is parsed however often it is called", () => {
  for (let count = 0; count < 20_000; count += 1)
    expect(parseUrl("https://m\u00fcller.example/")?.hostname).toBe("xn--mller-kva.example");
});

test("a text that is not a URL, or is relative without a base, is null", () => {
  expect(parseUrl("hooks")).toBeNull();
  expect(parseUrl("https://[::1")).toBeNull();
  expect(parseUrl("/in", "https://a.example")?.href).toBe("https://a.example/in");
});
