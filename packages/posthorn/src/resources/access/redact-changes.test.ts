import { expect, test } from "vitest";
import { withoutSecrets } from "./redact-changes.ts";

test("secrets, header values and URL queries are removed, other fields are kept", () => {
  const given = {
    url: "https://anna:s3cret@hooks.example:8443/in?token=abc#x",
    secret: "whsec_abc",
    headers: { Authorization: "Bearer abc" },
    events: ["order.*"],
    endpoints: [{ url: "https://a.example/?k=1", secret: "whsec_def" }],
    name: "billing",
    is_active: null,
  };
  expect(withoutSecrets(given)).toEqual({
    url: "https://hooks.example:8443/in?…",
    secret: "…",
    headers: { Authorization: "…" },
    events: ["order.*"],
    endpoints: [{ url: "https://a.example/?…", secret: "…" }],
    name: "billing",
    is_active: null,
  });
});

test("text is cut to 1,000 characters and lists to 100 items", () => {
  const text = "x".repeat(1_000);
  expect(withoutSecrets({ text, longer: `${text}x` })).toEqual({ text, longer: `${text}…` });
  expect(withoutSecrets(Array(101).fill(1))).toHaveLength(100);
});

test("deeply nested values are cut off", () => {
  const nested = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  expect(JSON.stringify(withoutSecrets(nested))).toHaveLength(81 * 2 + '"…"'.length);
});

test("text that is cut within a surrogate pair stays valid for PostgreSQL", () => {
  expect(withoutSecrets(`${"x".repeat(999)}😀x`)).toBe(`${"x".repeat(999)}\ufffd…`);
});

test("an entry has about 16 KB at most", () => {
  const most = 16 * 1024;
  const fits = Array(16).fill("x".repeat(1_000));
  expect(withoutSecrets(fits)).toEqual(fits);
  const texts = Array(100).fill(Array(100).fill("\u0001".repeat(1_000)));
  const names = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}${"n".repeat(2_000)}`, {}]));
  const numbers = Array(100).fill(Array(100).fill(Array(100).fill(1e300)));
  for (const large of [texts, names, numbers]) {
    const { length } = Buffer.from(JSON.stringify(withoutSecrets(large)));
    expect(length).toBeGreaterThan(most / 2);
    expect(length).toBeLessThan(most * 1.5);
  }
});
