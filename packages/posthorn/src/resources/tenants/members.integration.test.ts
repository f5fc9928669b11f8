import { expect, test } from "vitest";
import { openResources } from "../../../../../tests/support/database/resources.ts";
import { isMailAddress } from "./members.ts";

const { tenants, newTenant, members, pool } = await openResources();

test("put creates and updates a member, and keeps an e-mail address that is left out", async () => {
  const tenant = await newTenant();
  const made = await members.put(tenant, "anna@1", { role: "owner", email: "anna@example.com" });
  expect(made).toEqual({
    tenant,
    user: "anna@1",
    role: "owner",
    email: "anna@example.com",
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
  });
  const changed = await members.put(tenant, "anna@1", { role: "member" });
  expect(changed).toMatchObject({
    role: "member",
    email: "anna@example.com",
    createdAt: made.createdAt,
  });
  expect(await members.get(tenant, "anna@1")).toEqual(changed);
  expect(await members.put(tenant, "anna@1", { role: "member", email: null })).toMatchObject({ email: null });
});

test("members of a tenant are listed by id, a page at a time", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  for (const user of ["c", "a", "b"]) await members.put(tenant, user, { role: "member" });
  await members.put(other, "d", { role: "owner" });
  const first = await members.list(tenant, { limit: 2 });
  expect(first.data.map(({ user }) => user)).toEqual(["a", "b"]);
  const second = await members.list(tenant, { limit: 2, cursor: first.nextCursor as string });
  expect(second).toMatchObject({ data: [{ user: "c" }], nextCursor: null });
});

test("another tenant's, a deleted and an unknown member are not found", async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  await members.put(tenant, "anna", { role: "owner" });
  await members.put(other, "bert", { role: "owner" });
  await members.delete(tenant, "anna");
  for (const user of ["anna", "bert", "nobody", "a b", "\0", 5 as never]) {
    await expect(members.get(tenant, user)).rejects.toMatchObject({ code: "member_not_found" });
    await expect(members.delete(tenant, user)).rejects.toMatchObject({ code: "member_not_found" });
  }
  expect(await members.get(other, "bert")).toMatchObject({ role: "owner" });
});

test("a tenant that does not exist or was deleted has no members", async () => {
  const tenant = await newTenant();
  await members.put(tenant, "anna", { role: "owner" });
  await tenants.delete(tenant);
  const { rows } = await pool.query("select from posthorn.members where tenant = $1", [tenant]);
  expect(rows).toHaveLength(0);
  const notFound = { code: "tenant_not_found" };
  for (const gone of [tenant, "nobody", "a b"]) {
    await expect(members.put(gone, "anna", { role: "owner" })).rejects.toMatchObject(notFound);
    await expect(members.list(gone)).rejects.toMatchObject(notFound);
  }
});

test("all problems of a member are reported at once, with a suggestion for unknown fields", async () => {
  const tenant = await newTenant();
  const input = { role: "boss", mail: "x", email: 5 } as never;
  await expect(members.put(tenant, "a b", input)).rejects.toMatchObject({
    code: "invalid_member",
    problems: [
      { pointer: "/user" },
      { pointer: "/mail", message: expect.stringContaining("Did you mean email?") },
      { pointer: "/role", message: "role is one of owner, admin, member." },
      { pointer: "/email" },
    ],
  });
  await expect(members.put(tenant, "anna", {} as never)).rejects.toMatchObject({
    problems: [{ pointer: "/role" }],
  });
});

test("an e-mail address is one address that is safe in a header", () => {
  const valid = [
    "anna.o'neil+hooks@mail.example.co.uk",
    "anna@mailhost",
    `${"a".repeat(64)}@${"b.".repeat(93)}com`,
  ];
  expect(valid.filter(isMailAddress)).toEqual(valid);
  const wrong = [
    ...["anna", "anna@", "@example.com", '"anna"@example.com', "anna@exa mple.com", "anna@-example.com"],
    ...["anna@example.com\r\nBcc: mallory@example.com", "anna@example.com\n", "ännä@example.com"],
    ...["anna@example.com, mallory@example.com", "Anna <anna@example.com>", "-oQ/tmp@example.com"],
    ...[
      `${"a".repeat(65)}@example.com`,
      `a@${"b".repeat(64)}.com`,
      `${"a".repeat(64)}@${"b.".repeat(94)}com`,
    ],
  ];
  expect(wrong.filter(isMailAddress)).toEqual([]);
});
