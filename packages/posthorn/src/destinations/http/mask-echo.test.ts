import { expect, test } from "vitest";
import { type AttemptOutcome, NO_PHASES } from "../../model.ts";
import { maskEcho } from "./mask-echo.ts";

const request = { tenant: "t", url: "https://a.example", headers: {}, body: Buffer.alloc(0), timeoutMs: 1 };

function kept(body: string, confidential?: readonly string[]): string {
  const outcome: AttemptOutcome = {
    kind: "answered",
    statusCode: 404,
    responseBody: Buffer.from(body),
    retryAfter: null,
    durationMs: 1,
    phases: NO_PHASES,
  };
  const hidden = maskEcho(outcome, { ...request, ...(confidential && { confidential }) }, "[x]");
  return hidden.kind === "answered" ? Buffer.from(hidden.responseBody).toString() : "";
}

test.each([
  ["wherever it stands", "no /é?access_token=t0ken+/= and t0ken%2B%2F%3D", "no /é?access_token=[x] and [x]"],
  ["where what is kept ends within it", "nobody knows t0ken%2B%2", "nobody knows [x]"],
  ["in JSON of PHP", '{"got":"t0ken+\\/="}', '{"got":"[x]"}'],
  ["in JSON of Gson", '{"got":"t0ken+/\\u003d"}', '{"got":"[x]"}'],
])("a token that is said back is not kept, %s", (_, body, expected) => {
  expect(kept(body, ["t0ken+/="])).toBe(expected);
});

test("what is said back otherwise stays, and so do words that are as short as a token", () => {
  expect(kept("t0ken+/=")).toBe("t0ken+/=");
  expect(kept("no such page", ["no", "other-token"])).toBe("no such page");
});
