// Undo for changes. Refused if the resource was changed again in the meantime.
import type { Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts } from "../app/texts.ts";
import { showError, showFailure, showToast } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";

const t = defineTexts({
  undone: ["Undone.", "Rückgängig gemacht."],
  changedSince: [
    "Not undone: it was changed again in the meantime.",
    "Nicht rückgängig gemacht: Es wurde zwischenzeitlich erneut geändert.",
  ],
});

export interface Change<Value> {
  readonly after: Value;
  /** Reads the current value of these fields. */
  readonly read: () => Promise<Value>;
  readonly revert: () => Promise<unknown>;
}

/** Shows a toast with an undo button. */
export function useUndoable(): <Value>(message: string, change: Change<Value>) => void {
  const queries = useQueryClient();
  return (message, { after, read, revert }) => {
    const undo = async () => {
      try {
        if (!isSame(await read(), after)) return showFailure(t.changedSince);
        await revert();
        showToast(t.undone);
      } catch (error) {
        showError(error);
      } finally {
        await queries.invalidateQueries();
      }
    };
    showToast(message, { undo: () => void undo() });
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Picks the fields of `thing` that `change` names. */
export function fieldsOf<Thing extends object>(thing: Thing, change: object): Partial<Thing> {
  const names = Object.keys(change) as (keyof Thing)[];
  return Object.fromEntries(names.map((name) => [name, thing[name]])) as Partial<Thing>;
}

/** Changes a tenant. Throws if the server rejects the change. Call it in a submission, which reloads the page's data. */
export function useTenantChange() {
  const undoable = useUndoable();
  return async (
    before: Tenant,
    body: Partial<Pick<Tenant, "name" | "is_active" | "websub_topics">>,
    message: string,
  ) => {
    const tenant = before.id;
    // PUT would recreate a tenant that was deleted in the meantime
    await api.tenants.get({ tenant });
    const after = await api.tenants.put({ tenant, body });
    undoable(message, {
      after: fieldsOf(after, body),
      read: async () => fieldsOf(await api.tenants.get({ tenant }), body),
      revert: () => api.tenants.put({ tenant, body: fieldsOf(before, body) }),
    });
  };
}
