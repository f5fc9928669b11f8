// Sessions of people, from outside: signing in and out, what ends a session, and who may use one.
import { createClient } from "@posthorn/client";
import { describe, expect, test } from "vitest";
import { signIn, visitor } from "../../../../tests/support/sign-in.ts";
import { adminKey, startServer } from "../../../../tests/support/start-server.ts";

describe("signing in", () => {
  test("with the admin key gives an operator's session in a cookie that scripts and other sites do not get", async () => {
    const server = await startServer({ started: false });
    const answer = await server.visit("POST", "/api/v1/session", { key: adminKey }, visitor);
    expect([answer.status, answer.json]).toMatchObject([
      201,
      { kind: "operator", tenant: null, user: null, role: null, scopes: expect.arrayContaining(["admin"]) },
    ]);
    const cookie = answer.headers.get("set-cookie") as string;
    expect(cookie).toMatch(/^posthorn=phs_\w+; Path=\/; Max-Age=(43200|43199); HttpOnly; SameSite=Strict$/);
    expect(answer.text).not.toContain("phs_");
  });
});

test("the typed client signs in and out without a key", async () => {
  const server = await startServer({ started: false });
  const { headers } = await signIn(server, { key: adminKey });
  const withCookie: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...(init?.headers as object), cookie: headers.cookie as string } });
  const client = createClient({ url: server.url, key: null, fetch: withCookie, checksAnswers: true });
  expect(await client.session.get()).toMatchObject({ kind: "operator" });
  expect((await client.tenants.list()).data).toEqual([]);
  await client.session.end();
  await expect(client.session.get()).rejects.toMatchObject({ status: 401, code: "unauthorized" });
});
