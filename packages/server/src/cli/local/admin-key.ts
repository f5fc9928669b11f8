// The admin key: the configured one, or one generated on first start. The database stores only its digest.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Posthorn } from "posthorn";
import { ADMIN_KEY_META, adminKeyDigest } from "../../api/middleware/admin-key.ts";
import { readOrCreateKeyFile } from "./key-file.ts";

export interface AdminKey {
  /** Null if an earlier start generated and printed it; then only its digest is known. */
  readonly key: string | null;
  /** True if this start generated it, so that it must be printed once. */
  readonly isNew: boolean;
}

export interface AdminKeySource {
  readonly hooks: Posthorn;
  readonly configured: string | undefined;
  /** Folder for the file with a generated key; null means it is only printed. */
  readonly keepIn: string | null;
}

export async function resolveAdminKey({ hooks, configured, keepIn }: AdminKeySource): Promise<AdminKey> {
  if (configured !== undefined) return { key: configured, isNew: false };
  const path = keepIn === null ? null : join(keepIn, "admin-key");
  const candidate =
    path === null ? { content: generateKey(), isNew: true } : readOrCreateKeyFile(path, generateKey);
  const digest = adminKeyDigest(candidate.content);
  const known = await hooks.meta.get(ADMIN_KEY_META);
  const stored = known ?? (await hooks.meta.setOnce(ADMIN_KEY_META, digest));
  if (stored === digest) return { key: candidate.content, isNew: known === null };
  if (path !== null && candidate.isNew) rmSync(path, { force: true });
  return { key: null, isNew: false };
}

/** 256 random bits. The prefix lets secret scanners find a leaked key. */
function generateKey(): string {
  return `phk_${randomBytes(32).toString("base64url")}`;
}
