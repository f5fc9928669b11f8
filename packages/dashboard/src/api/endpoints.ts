// Changes to endpoints, with undo.
import type { Endpoint } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { showToast } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";
import { fieldsOf, useUndoable } from "./undo.ts";

type Patch = Parameters<typeof api.endpoints.update>[0]["body"];
type Backlog = "deliver" | "discard";

export interface EndpointChanges {
  /** Throws if the server rejects the change. */
  readonly update: (before: Endpoint, body: Patch, message: string) => Promise<Endpoint>;
  readonly disable: (endpoint: Endpoint, message: string) => Promise<void>;
  /** Asks the receiver for consent again. */
  readonly repeatHandshake: (endpoint: Endpoint, message: string) => Promise<void>;
  readonly enable: (endpoint: Endpoint, backlog: Backlog, message: string) => Promise<void>;
}

export function useEndpointChanges(): EndpointChanges {
  const queries = useQueryClient();
  const undoable = useUndoable();
  const refresh = (after: Endpoint) => {
    queries.setQueryData(["endpoint", after.id], after);
    return queries.invalidateQueries();
  };
  return {
    update: async (before, body, message) => {
      const at = { tenant: before.tenant, endpoint: before.id };
      const after = await api.endpoints.update({ ...at, body });
      if (isReversible(before, after, body))
        undoable(message, {
          after: settingsOf(after, body),
          read: async () => settingsOf(await api.endpoints.get(at), body),
          revert: () => api.endpoints.update({ ...at, body: settingsOf(before, body) as Patch }),
        });
      else showToast(message);
      await refresh(after);
      return after;
    },
    repeatHandshake: async ({ tenant, id, handshake }, message) => {
      if (handshake === null) return;
      const { origin, rate } = handshake;
      const after = await api.endpoints.update({
        tenant,
        endpoint: id,
        body: { handshake: { origin, rate } },
      });
      showToast(message);
      await refresh(after);
    },
    disable: async ({ tenant, id }, message) => {
      const at = { tenant, endpoint: id };
      const after = await api.endpoints.disable(at);
      undoable(message, {
        after: activationOf(after),
        read: async () => activationOf(await api.endpoints.get(at)),
        revert: () => api.endpoints.enable({ ...at, body: { backlog: "deliver" } }),
      });
      await refresh(after);
    },
    enable: async ({ tenant, id }, backlog, message) => {
      const at = { tenant, endpoint: id };
      const after = await api.endpoints.enable({ ...at, body: { backlog } });
      // discarded deliveries cannot be restored
      if (backlog === "discard") showToast(message);
      else
        undoable(message, {
          after: activationOf(after),
          read: async () => activationOf(await api.endpoints.get(at)),
          revert: () => api.endpoints.disable(at),
        });
      await refresh(after);
    },
  };
}

/** A replaced or removed token cannot be restored: the server never returns it. */
function isReversible(before: Endpoint, after: Endpoint, body: Patch): boolean {
  if (body.authorization !== undefined && before.authorization !== null) return false;
  return body.url === undefined || after.authorization === null;
}

/** The changed settings, without state that changes on its own. */
function settingsOf(endpoint: Endpoint, body: Patch): object {
  const { handshake } = endpoint;
  const asked = handshake && { origin: handshake.origin, rate: handshake.rate };
  return { ...fieldsOf(endpoint, body), ...(body.handshake !== undefined && { handshake: asked }) };
}

/** Includes the time, to notice that it was disabled again in between. */
function activationOf({ is_active, disabled_at }: Endpoint) {
  return { is_active, disabled_at };
}
