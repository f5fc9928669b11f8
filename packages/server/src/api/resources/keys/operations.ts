import type { PosthornContract, Scope } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { presentPage } from "../../present.ts";
import {
  grantableExpiry,
  grantableRateLimit,
  hasScope,
  type Principal,
  scopedTenant,
  tenantScope,
} from "../../principal.ts";
import { presentKey } from "./present.ts";

export function keyOperations({ keys }: Posthorn): Handlers<PosthornContract>["keys"] {
  return {
    create: async ({ body, principal }) => {
      const { name, scopes, expires_at: expiresAt, rate_limit: rateLimit } = body;
      const tenant = scopedTenant(principal, body.tenant ?? undefined);
      const { key, text } = await keys.create({
        name,
        tenant,
        scopes: grantable(principal, scopes),
        expiresAt: grantableExpiry(principal, expiresAt == null ? null : new Date(expiresAt)),
        rateLimit: grantableRateLimit(principal, rateLimit ?? null),
      });
      return { ...presentKey(key), key: text };
    },
    list: async ({ query, principal }) => {
      const tenant = scopedTenant(principal, query.tenant);
      return presentPage(await keys.list({ ...query, tenant }), presentKey);
    },
    revoke: async ({ params, principal }) => {
      await keys.revoke(params.key, tenantScope(principal));
      return undefined;
    },
  };
}

/** Nobody gives away what they do not have; whoever makes keys has all of it. */
function grantable(principal: Principal, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => hasScope(principal, scope));
}
