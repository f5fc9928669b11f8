import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toCamelCase } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import {
  cannotAddMember,
  grantableRateLimit,
  grantableTokenSeconds,
  type Principal,
} from "../../principal.ts";
import { isPosthornError } from "../../problem.ts";
import { presentKey } from "../keys/present.ts";
import { presentMember } from "./present.ts";

export function memberOperations({ members, keys }: Posthorn): Handlers<PosthornContract>["members"] {
  return {
    list: async ({ params, query }) => presentPage(await members.list(params.tenant, query), presentMember),
    put: async ({ params, body, principal }) =>
      presentMember(await save(members, principal, [params.tenant, params.user, toCamelCase(body)])),
    get: async ({ params }) => presentMember(await members.get(params.tenant, params.user)),
    delete: async ({ params }) => {
      await members.delete(params.tenant, params.user);
      return undefined;
    },
    createToken: async ({ params, body, principal }) => {
      const expiresInSeconds = grantableTokenSeconds(principal, body.expires_in_seconds);
      const rateLimit = grantableRateLimit(principal, null);
      const input = { expiresInSeconds, rateLimit };
      const { key, text } = await keys.createToken(params.tenant, params.user, input);
      return { ...presentKey(key), key: text };
    },
  };
}

type Members = Posthorn["members"];

/**
 * Whoever makes a user a member hands the tenant that user's events, which are published to wherever they are a member.
 * So the installation alone admits people; a tenant changes those it was given.
 */
async function save(members: Members, principal: Principal, member: Parameters<Members["put"]>) {
  if (principal.tenant === null) return await members.put(...member);
  try {
    return await members.update(...member);
  } catch (error) {
    throw isPosthornError(error) && error.code === "member_not_found" ? cannotAddMember(member[1]) : error;
  }
}
