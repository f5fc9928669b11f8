import type { Key, PosthornContract, Scope } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import type { FromLibrary } from "../../present.ts";
import {
  grantableExpiry,
  grantableRateLimit,
  hasScope,
  type Principal,
  scopedTenant,
  tenantScope,
} from "../../principal.ts";

type NewKey = Awaited<ReturnType<Posthorn["keys"]["create"]>>;

export function keyOperations({ keys }: Posthorn): Handlers<PosthornContract>["keys"] {
  return {
    create: async ({ body, principal }) => {
      const { name, scopes, expiresAt, rateLimit } = body;
      const created = await keys.create({
        name,
        tenant: scopedTenant(principal, body.tenant ?? undefined),
        scopes: grantableScopes(principal, scopes),
        expiresAt: grantableExpiry(principal, expiresAt ?? null),
        rateLimit: grantableRateLimit(principal, rateLimit ?? null),
      });
      return presentNewKey(created);
    },
    list: async ({ query }) => {
      const page = await keys.list(query);
      return { ...page, data: page.data.map(withKnownScopes) };
    },
    revoke: ({ params, principal }) => keys.revoke(params.key, tenantScope(principal)),
  };
}

/** The only response that contains the key itself. */
export function presentNewKey({ key, text }: NewKey): FromLibrary<Key & { key: string }> {
  return { ...withKnownScopes(key), key: text };
}

function withKnownScopes(key: NewKey["key"]) {
  return { ...key, scopes: key.scopes as Key["scopes"] };
}

/** A caller cannot grant a scope it does not have. */
function grantableScopes(principal: Principal, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => hasScope(principal, scope));
}
