// A flood of forged requests must not cause many explanations for the log.
import type { VerifyInput } from "@posthorn/wire";
import { expect, test } from "vitest";
import { rejectionExplainer } from "./explain-rejections.ts";

const INPUT: VerifyInput = {
  scheme: "t-v1",
  headers: { "x-webhook-signature": `t=1,v1=${"0".repeat(64)}` },
  body: new Uint8Array(),
  secrets: ["secret"],
};
const MISMATCH = { ok: false, reason: "no_match", detail: "plain" } as const;
const AT = (ms: number) => new Date(1_700_000_000_000 + ms);

test("ten mismatches per second are explained, others only named", async () => {
  const explain = rejectionExplainer();
  const hintAt = async (ms: number) => (await explain(INPUT, MISMATCH, AT(ms))).hint;
  for (let count = 0; count < 10; count++) expect(await hintAt(count)).not.toBe("plain");
  expect(await hintAt(999)).toBe("plain");
  expect(await hintAt(1_000)).not.toBe("plain");
});

test("failures that are cheap to explain are always explained", async () => {
  const explain = rejectionExplainer();
  for (let count = 0; count < 11; count++) await explain(INPUT, MISMATCH, AT(0));
  const late = { ok: false, reason: "too_old", detail: "by 301 seconds" } as const;
  expect((await explain(INPUT, late, AT(0))).hint).toContain("older than the tolerance");
});
