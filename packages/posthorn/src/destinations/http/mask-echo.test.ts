import { expect, test } from "vitest";
import { responded } from "../../../../../tests/support/samples/outcomes.ts";
import { maskEcho } from "./mask-echo.ts";

const request = { tenant: "t", url: "https://a.example", headers: {}, body: Buffer.alloc(0), timeoutMs: 1 };

function kept(body: string, confidential?: readonly string[]): string {
  const outcome = { ...responded(404), responseBody: Buffer.from(body) };
  const masked = maskEcho(outcome, { ...request, ...(confidential && { confidential }) }, "[x]");
  return masked.kind === "responded" ? Buffer.from(masked.responseBody).toString() : "";
}

test.each([
  ["wherever it stands", "no /é?access_token=t0ken+/= and t0ken%2B%2F%3D", "no /é?access_token=[x] and [x]"],
  ["where what is kept ends within it", "nobody knows t0ken%2B%2", "nobody knows [x]"],
  ["in JSON of PHP", '{"got":"t0ken+\\/="}', '{"got":"[x]"}'],
  ["in JSON of Gson", '{"got":"t0ken+/\\u003d"}', '{"got":"[x]"}'],
])("a token that a response repeats is not stored, %s", (_, body, expected) => {
  expect(kept(body, ["t0ken+/="])).toBe(expected);
});

test("other text of a response is stored, including words as short as a token", () => {
  expect(kept("t0ken+/=")).toBe("t0ken+/=");
  expect(kept("no such page", ["no", "other-token"])).toBe("no such page");
});
