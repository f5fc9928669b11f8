// The lists that `tail` and `listen` follow.
import type { Delivery, Event, Resend } from "@posthorn/client";
import type { Remote } from "../remote/remote.ts";
import type { Source } from "./follower.ts";

export interface Filter {
  readonly tenant: string | undefined;
  readonly type: string | undefined;
}

const LIMIT = 250;

export function eventSource({ client }: Remote, { tenant, type }: Filter): Source<Event> {
  return {
    list: (after, cursor) =>
      client.events.list({
        query: { tenant, type, created_after: after.toISOString(), limit: LIMIT, cursor },
      }),
    keyOf: ({ id }) => id,
    timeOf: ({ created_at }) => new Date(created_at),
  };
}

export function deliverySource({ client }: Remote, { tenant, type }: Filter): Source<Delivery> {
  return {
    list: (after, cursor) =>
      client.deliveries.list({
        query: { tenant, type, created_after: after.toISOString(), limit: LIMIT, cursor },
      }),
    keyOf: ({ id, state, attempt_count }) => `${id} ${state} ${attempt_count}`,
    timeOf: ({ created_at }) => new Date(created_at),
    isOpen: ({ state }) => state !== "success" && state !== "dead",
  };
}

export function resendSource({ client }: Remote, { tenant, type }: Filter): Source<Resend> {
  return {
    list: (after, cursor) =>
      client.resends.list({
        query: { tenant, type, resent_after: after.toISOString(), limit: LIMIT, cursor },
      }),
    keyOf: ({ delivery_id, attempt }) => `${delivery_id} ${attempt}`,
    timeOf: ({ resent_at }) => new Date(resent_at),
  };
}
