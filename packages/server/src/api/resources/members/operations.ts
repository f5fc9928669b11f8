import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import {
  cannotAddMember,
  grantableRateLimit,
  grantableTokenSeconds,
  type Principal,
} from "../../principal.ts";
import { isPosthornError } from "../../problem.ts";
import { presentNewKey } from "../keys/operations.ts";

export function memberOperations({ members, keys }: Posthorn): Handlers<PosthornContract>["members"] {
  return {
    list: ({ params, query }) => members.list(params.tenant, query),
    put: ({ params, body, principal }) => save(members, principal, [params.tenant, params.user, body]),
    get: ({ params }) => members.get(params.tenant, params.user),
    delete: ({ params }) => members.delete(params.tenant, params.user),
    createToken: async ({ params, body, principal }) => {
      const expiresInSeconds = grantableTokenSeconds(principal, body.expiresInSeconds);
      const rateLimit = grantableRateLimit(principal, null);
      const input = { expiresInSeconds, rateLimit };
      return presentNewKey(await keys.createToken(params.tenant, params.user, input));
    },
  };
}

type Members = Posthorn["members"];

/**
 * Saves a member. An event for a user goes to every tenant that the user is a member of, so a tenant's own key could read
 * other tenants' events by adding their users: it may only update existing members.
 */
async function save(members: Members, principal: Principal, member: Parameters<Members["put"]>) {
  if (principal.tenant === null) return await members.put(...member);
  try {
    return await members.update(...member);
  } catch (error) {
    throw isPosthornError(error) && error.code === "member_not_found" ? cannotAddMember(member[1]) : error;
  }
}
