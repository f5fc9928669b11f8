import type { Key } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["keys"]["create"]>>["key"];

/** A key as the API shows it: never what it is. */
export function presentKey(key: Given): Sent<Key> {
  return {
    id: key.id,
    name: key.name,
    tenant: key.tenant,
    user: key.user,
    role: key.role,
    scopes: key.scopes as Key["scopes"],
    rate_limit: key.rateLimit,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
  };
}
