// Changes a tenant, switches it on and off, and says what follows from it.
import type { Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts, useTexts } from "../app/texts.ts";
import { sayError } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";
import { fieldsOf, useUndoable } from "./undo.ts";

const texts = defineTexts({
  en: {
    on: (id: string) => `${id} is active: its endpoints are sent to again.`,
    off: (id: string) => `${id} is inactive: nothing is sent to its endpoints.`,
  },
  de: {
    on: (id: string) => `${id} ist aktiv: an seine Endpunkte wird wieder gesendet.`,
    off: (id: string) => `${id} ist inaktiv: an seine Endpunkte wird nichts gesendet.`,
  },
});

export function useTenantSwitch(): (tenant: Tenant) => Promise<void> {
  const t = useTexts(texts);
  const change = useTenantChange();
  return async (tenant) => {
    const { id, is_active } = tenant;
    try {
      await change(tenant, { is_active: !is_active }, is_active ? t.off(id) : t.on(id));
    } catch (error) {
      sayError(error);
    }
  };
}

/** Throws what the server has against it. */
export function useTenantChange() {
  const queries = useQueryClient();
  const undoable = useUndoable();
  return async (
    before: Tenant,
    body: Partial<Pick<Tenant, "name" | "is_active" | "websub_topics">>,
    said: string,
  ) => {
    const tenant = before.id;
    // to put one that was deleted meanwhile would make it anew
    await api.tenants.get({ tenant });
    const after = await api.tenants.put({ tenant, body });
    undoable(said, {
      after: fieldsOf(after, body),
      read: async () => fieldsOf(await api.tenants.get({ tenant }), body),
      takeBack: () => api.tenants.put({ tenant, body: fieldsOf(before, body) }),
    });
    await queries.invalidateQueries();
  };
}
