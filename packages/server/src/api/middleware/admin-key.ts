// The digest of the admin key: of the configured one, or the one in the database.
import { hash } from "node:crypto";
import type { Posthorn } from "posthorn";

/** Name of the database entry with the digest of a generated admin key. */
export const ADMIN_KEY_META = "admin_key_sha256";

/** Returns the SHA-256 of the admin key in hex, or null if there is none yet. */
export type AdminKeyDigest = () => string | null | Promise<string | null>;

export function digestOf(hooks: Posthorn, adminKey: string | undefined): AdminKeyDigest {
  if (adminKey === undefined) return () => hooks.meta.get(ADMIN_KEY_META);
  const digest = adminKeyDigest(adminKey);
  return () => digest;
}

export function adminKeyDigest(key: string): string {
  return hash("sha256", key, "hex");
}
