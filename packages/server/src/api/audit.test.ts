import { expect, test } from "vitest";
import { withoutSecrets } from "./audit.ts";

test("secrets, header values and what a URL carries are left out, the rest stays", () => {
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

test("what is long is cut: 1,000 characters and 100 items stay", () => {
  const text = "x".repeat(1_000);
  expect(withoutSecrets({ text, longer: `${text}x` })).toEqual({ text, longer: `${text}…` });
  expect(withoutSecrets(Array(101).fill(1))).toHaveLength(100);
});
