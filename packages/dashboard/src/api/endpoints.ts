// Changes an endpoint, each time with the way back.
import type { Endpoint } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { say } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";
import { fieldsOf, useUndoable } from "./undo.ts";

type Patch = Parameters<typeof api.endpoints.update>[0]["body"];
type Backlog = "deliver" | "discard";

export interface EndpointChanges {
  /** Throws what the server has against it. */
  readonly update: (before: Endpoint, body: Patch, said: string) => Promise<Endpoint>;
  readonly disable: (endpoint: Endpoint, said: string) => Promise<void>;
  /** Once more whether it wants webhooks, after it did not. */
  readonly askAgain: (endpoint: Endpoint, said: string) => Promise<void>;
  readonly enable: (endpoint: Endpoint, backlog: Backlog, said: string) => Promise<void>;
}

export function useEndpointChanges(): EndpointChanges {
  const queries = useQueryClient();
  const undoable = useUndoable();
  const keep = (after: Endpoint) => {
    queries.setQueryData(["endpoint", after.id], after);
    return queries.invalidateQueries();
  };
  return {
    update: async (before, body, said) => {
      const at = { tenant: before.tenant, endpoint: before.id };
      const after = await api.endpoints.update({ ...at, body });
      if (canBeTakenBack(before, after, body))
        undoable(said, {
          after: settingsOf(after, body),
          read: async () => settingsOf(await api.endpoints.get(at), body),
          takeBack: () => api.endpoints.update({ ...at, body: settingsOf(before, body) as Patch }),
        });
      else say(said);
      await keep(after);
      return after;
    },
    askAgain: async ({ tenant, id, handshake }, said) => {
      if (handshake === null) return;
      const { origin, rate } = handshake;
      const after = await api.endpoints.update({
        tenant,
        endpoint: id,
        body: { handshake: { origin, rate } },
      });
      say(said);
      await keep(after);
    },
    disable: async ({ tenant, id }, said) => {
      const at = { tenant, endpoint: id };
      const after = await api.endpoints.disable(at);
      undoable(said, {
        after: switchOf(after),
        read: async () => switchOf(await api.endpoints.get(at)),
        takeBack: () => api.endpoints.enable({ ...at, body: { backlog: "deliver" } }),
      });
      await keep(after);
    },
    enable: async ({ tenant, id }, backlog, said) => {
      const at = { tenant, endpoint: id };
      const after = await api.endpoints.enable({ ...at, body: { backlog } });
      // what was discarded does not come back by switching it off
      if (backlog === "discard") say(said);
      else
        undoable(said, {
          after: switchOf(after),
          read: async () => switchOf(await api.endpoints.get(at)),
          takeBack: () => api.endpoints.disable(at),
        });
      await keep(after);
    },
  };
}

/** A token that was replaced, removed, or given for another host is known to nobody any more. */
function canBeTakenBack(before: Endpoint, after: Endpoint, body: Patch): boolean {
  if (body.authorization !== undefined && before.authorization !== null) return false;
  return body.url === undefined || after.authorization === null;
}

/** What was changed, without what becomes of it by itself. */
function settingsOf(endpoint: Endpoint, body: Patch): object {
  const { handshake } = endpoint;
  const asked = handshake && { origin: handshake.origin, rate: handshake.rate };
  return { ...fieldsOf(endpoint, body), ...(body.handshake !== undefined && { handshake: asked }) };
}

/** Switched off twice is not switched off once: the time tells them apart. */
function switchOf({ is_active, disabled_at }: Endpoint) {
  return { is_active, disabled_at };
}
