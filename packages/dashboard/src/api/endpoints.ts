// Changes to endpoints, with undo.
import type { Endpoint } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { warningText } from "../components/endpoint/url-warnings.tsx";
import { showFailure, showToast } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";
import { fieldsOf, useUndoable } from "./undo.ts";
import { apiKey } from "./use-api.ts";

type Patch = Parameters<typeof api.endpoints.update>[0]["body"];
type Backlog = "deliver" | "discard";
type At = ReturnType<typeof addressOf>;

/** Each change shows `message`; those that can be reverted offer undo. Throws if the server rejects the change. */
export function useEndpointChanges() {
  const queries = useQueryClient();
  const undoable = useUndoable();
  /** `picked` are the fields that must not have changed in the meantime; null if the change cannot be undone. */
  const done = async (
    after: Endpoint,
    message: string,
    picked: ((endpoint: Endpoint) => object) | null,
    revert: (at: At) => Promise<unknown>,
  ) => {
    const at = addressOf(after);
    if (picked === null) showToast(message);
    else
      undoable(message, {
        after: picked(after),
        read: async () => picked(await api.endpoints.get(at)),
        revert: () => revert(at),
      });
    queries.setQueryData(apiKey("endpoints.get", at), after);
  };
  return {
    update: async (before: Endpoint, body: Patch, message: string): Promise<Endpoint> => {
      const { warnings, ...after } = await api.endpoints.update({ ...addressOf(before), body });
      const picked = (endpoint: Endpoint) => settingsOf(endpoint, body);
      await done(after, message, isReversible(before, after, body) ? picked : null, (at) =>
        api.endpoints.update({ ...at, body: picked(before) as Patch }),
      );
      for (const warning of warnings) showFailure(warningText(warning));
      return after;
    },
    /** Asks the receiver for consent again. */
    repeatHandshake: async (endpoint: Endpoint, message: string): Promise<void> => {
      if (endpoint.handshake === null) return;
      const { origin, rate } = endpoint.handshake;
      const body = { handshake: { origin, rate } };
      const after = await api.endpoints.update({ ...addressOf(endpoint), body });
      await done(after, message, null, async () => {});
    },
    disable: async (endpoint: Endpoint, message: string): Promise<void> => {
      const after = await api.endpoints.disable(addressOf(endpoint));
      const revert = (at: At) => api.endpoints.enable({ ...at, body: { backlog: "deliver" } });
      await done(after, message, activationOf, revert);
    },
    enable: async (endpoint: Endpoint, backlog: Backlog, message: string): Promise<void> => {
      const after = await api.endpoints.enable({ ...addressOf(endpoint), body: { backlog } });
      // disabling the endpoint again would not restore the discarded deliveries
      await done(after, message, backlog === "discard" ? null : activationOf, api.endpoints.disable);
    },
  };
}

function addressOf({ tenant, id }: Endpoint) {
  return { tenant, endpoint: id };
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
