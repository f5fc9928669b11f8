// Members of a tenant: the caller's own users, each in a role. PUT makes or changes one.
import type { Posthorn } from "posthorn";
import { type Exchange, param } from "../exchange.ts";
import { nullable, readFields, text } from "../input/fields.ts";
import { readListQuery } from "../input/query.ts";
import { presentMember } from "../present/member.ts";
import { pageReply } from "../present/page.ts";
import { json, noContent } from "../reply.ts";
import type { Route } from "../router.ts";

type MemberInput = Parameters<Posthorn["members"]["put"]>[2];

export function memberRoutes({ members }: Posthorn): Route[] {
  const ofTenant = "/api/v1/tenants/{tenant}/members";
  const path = `${ofTenant}/{user}`;
  const tenant = (exchange: Exchange): string => param(exchange, "tenant");
  const user = (exchange: Exchange): string => param(exchange, "user");
  return [
    {
      method: "GET",
      path: ofTenant,
      permission: "admin",
      handle: async (exchange) =>
        pageReply(await members.list(tenant(exchange), readListQuery(exchange)), presentMember),
    },
    {
      method: "PUT",
      path,
      permission: "admin",
      handle: async (exchange) => {
        const input = await readFields<MemberInput>(exchange, FIELDS);
        return json(200, presentMember(await members.put(tenant(exchange), user(exchange), input)));
      },
    },
    {
      method: "GET",
      path,
      permission: "admin",
      handle: async (exchange) =>
        json(200, presentMember(await members.get(tenant(exchange), user(exchange)))),
    },
    {
      method: "DELETE",
      path,
      permission: "admin",
      handle: async (exchange) => {
        await members.delete(tenant(exchange), user(exchange));
        return noContent;
      },
    },
  ];
}

const FIELDS = {
  role: { to: "role", type: text },
  email: { to: "email", type: nullable(text) },
};
