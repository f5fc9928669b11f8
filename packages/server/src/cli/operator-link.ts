// A link that lets whoever reads the terminal into the dashboard, once.
import type { Posthorn } from "posthorn";
import { digestOf } from "../api/handler.ts";

/** Null while there is no admin key. */
export async function operatorLink(
  hooks: Posthorn,
  url: string,
  adminKey: string | undefined,
): Promise<string | null> {
  const digest = await digestOf(hooks, adminKey)();
  if (digest === null) return null;
  const { code } = await hooks.sessions.createOperatorLink(digest);
  return `${url}/#code=${code}`;
}
