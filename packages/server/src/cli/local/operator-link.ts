// The one-time sign-in link for the dashboard that a start prints. It leads to the first steps until an event was published.
import type { Posthorn } from "posthorn";
import { digestOf } from "../../api/handler.ts";

/** Returns null if there is no admin key. */
export async function operatorLink(
  hooks: Posthorn,
  url: string,
  adminKey: string | undefined,
): Promise<string | null> {
  const digest = await digestOf(hooks, adminKey)();
  if (digest === null) return null;
  const { code } = await hooks.sessions.createOperatorLink(digest);
  return `${url}/${(await hasPublished(hooks)) ? "" : "first-run"}#code=${code}`;
}

/** Enough to skip the test events that every start of a development server sends. */
const NEWEST = 50;

async function hasPublished({ events }: Posthorn): Promise<boolean> {
  const { data } = await events.list({ limit: NEWEST });
  return data.some(({ type }) => !type.startsWith("webhook."));
}
