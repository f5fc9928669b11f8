// The lists that `tail` and `listen` follow, and where they begin.
import type { Delivery, Event, Resend } from "@posthorn/client";
import { parseTime, type Remote } from "../remote/remote.ts";
import type { Source } from "./follower.ts";

export interface Filter {
  readonly tenant: string | undefined;
  readonly type: string | undefined;
}

const limit = 250;

export function eventSource({ client }: Remote, filter: Filter): Source<Event> {
  return {
    list: (created_after, cursor) =>
      client.events.list({ query: { ...filter, created_after, limit, cursor } }),
    keyOf: ({ id }) => id,
    timeOf: ({ created_at }) => created_at,
  };
}

export function deliverySource({ client }: Remote, filter: Filter): Source<Delivery> {
  return {
    list: (created_after, cursor) =>
      client.deliveries.list({ query: { ...filter, created_after, limit, cursor } }),
    keyOf: ({ id, state, attempt_count }) => `${id} ${state} ${attempt_count}`,
    timeOf: ({ created_at }) => created_at,
    isOpen: ({ state }) => state !== "success" && state !== "dead",
  };
}

export function resendSource({ client }: Remote, filter: Filter): Source<Resend> {
  return {
    list: (resent_after, cursor) =>
      client.resends.list({ query: { ...filter, resent_after, limit, cursor } }),
    keyOf: ({ delivery_id, attempt }) => `${delivery_id} ${attempt}`,
    timeOf: ({ resent_at }) => resent_at,
  };
}

/** Returns where followers begin. Reads one event first, so that a wrong URL or key is reported at once. */
export async function startOf(remote: Remote, filter: Filter, since: string | undefined) {
  await remote.client.events.list({ query: { ...filter, limit: 1 } });
  const now = remote.now();
  const from = since === undefined ? now : parseTime("--since", since, now);
  return { from, isBackFill: since !== undefined };
}
