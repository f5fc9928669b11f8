import { PosthornError } from "posthorn";
import { expect, test } from "vitest";
import { HttpError } from "./http-error.ts";
import { apiPointer, apiText } from "./input/names.ts";
import { problemOf, problemReply } from "./problem.ts";

function bodyOf(error: unknown): Record<string, unknown> {
  return JSON.parse(String(problemReply(problemOf(error), "/api/v1/x", "req_1").body));
}

test("a refusal is a problem document with code, errors and request id", () => {
  const fieldErrors = [{ pointer: "/type", message: "This must be a string." }];
  expect(bodyOf(new HttpError("invalid_body", "It is wrong.", { fieldErrors }))).toEqual({
    type: "urn:posthorn:error:invalid_body",
    title: "The body has missing, unknown or invalid fields.",
    status: 422,
    detail: "It is wrong.",
    instance: "/api/v1/x",
    code: "invalid_body",
    errors: fieldErrors,
    request_id: "req_1",
  });
});

test("an error of the library keeps its code, and its errors in the API's spelling", () => {
  const problems = [{ pointer: "/timeoutMs", message: "Too long." }];
  expect(bodyOf(new PosthornError("invalid_endpoint", "No.", { problems }))).toMatchObject({
    code: "invalid_endpoint",
    status: 422,
    errors: [{ pointer: "/timeout_ms", message: "Too long." }],
  });
});

test("advice for users of the library becomes advice for callers of the API", () => {
  const error = new PosthornError("tenant_not_found", 'There is no tenant "a". Create it first.');
  expect(bodyOf(error).detail).toBe('There is no tenant "a". Create it with PUT /api/v1/tenants/{tenant}.');
});

test("names that the caller chose are not converted", () => {
  expect(apiPointer("/headers/X-MyTeam")).toBe("/headers/X-MyTeam");
  expect(apiPointer("/filter/data/orderId/$startsWith")).toBe("/filter/data/orderId/$startsWith");
  expect(apiPointer("/endpoints/3/filter/data/orderId")).toBe("/endpoints/3/filter/data/orderId");
  expect(apiPointer("/endpoints/3/timeoutMs")).toBe("/endpoints/3/timeout_ms");
  expect(apiPointer("/schemeSecrets/TOPS")).toBe("/scheme_secrets/TOPS");
  expect(apiPointer("/envelopeFields/tenantId")).toBe("/envelope_fields/tenantId");
  expect(apiPointer("/signature/headerPrefix")).toBe("/signature/header_prefix");
});

test.each([
  ["/retryPolicy: This. /maxInFlight: That.", "/retry_policy: This. /max_in_flight: That."],
  ["/filter/data/orderId/$eq: Wrong. /timeoutMs: Too.", "/filter/data/orderId/$eq: Wrong. /timeout_ms: Too."],
  ["/schemeSecrets/sha256:myLabel: No.", "/scheme_secrets/sha256:myLabel: No."],
  ["x-myTeam and myTeam-Signature stay.", null],
  ["Did you mean $startsWith?", "Did you mean $startsWith?"],
  ["Pass nextCursor of the previous page.", "Pass next_cursor of the previous page."],
  ["{ exponential: { cap: '1d', maxAttempts: 12 } }", "{ exponential: { cap: '1d', max_attempts: 12 } }"],
  ['There is no tenant "maxInFlight".', 'There is no tenant "maxInFlight".'],
  ["X-MyTeam and X-OrientedOS stay, as do HTTP and PostgreSQL.", null],
])("%s is converted to the names of the API", (message, expected) => {
  expect(apiText(message)).toBe(expected ?? message);
});

test("an invalid filter of a list is reported as a parameter", () => {
  const problems = [{ pointer: "/createdAfter", message: "createdAfter is a valid date." }];
  expect(
    bodyOf(new PosthornError("invalid_query", "createdAfter is a valid date.", { problems })),
  ).toMatchObject({
    detail: "created_after is a valid date.",
    errors: [{ parameter: "created_after", message: "created_after is a valid date." }],
  });
});

test("an unavailable database is a 503 with Retry-After", () => {
  for (const error of [
    new PosthornError("database_unavailable", "Away."),
    Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
    Object.assign(new Error("read-only"), { code: "25006" }),
    new Error("Connection terminated unexpectedly"),
  ]) {
    expect(problemOf(error)).toMatchObject({
      status: 503,
      code: "database_unavailable",
      headers: { "Retry-After": "2" },
    });
  }
});

test("an internal error reveals no details", () => {
  const problem = bodyOf(new TypeError("secret detail"));
  expect(problem).toMatchObject({ status: 500, code: "internal_error" });
  expect(JSON.stringify(problem)).not.toContain("secret detail");
});

test("an error response stays short for any number of errors and any length of names", () => {
  const long = "x".repeat(100_000);
  const many = Array.from({ length: 1_000 }, () => ({ pointer: `/${long}`, message: long }));
  const body = bodyOf(new PosthornError("invalid_endpoint", long, { problems: many }));
  expect(body.errors).toHaveLength(20);
  expect(JSON.stringify(body).length).toBeLessThan(30_000);
  const atLimit = [{ pointer: `/${"x".repeat(499)}`, message: "x".repeat(500) }];
  expect(bodyOf(new HttpError("invalid_body", "x".repeat(4_000), { fieldErrors: atLimit }))).toMatchObject({
    detail: "x".repeat(4_000),
    errors: atLimit,
  });
});
