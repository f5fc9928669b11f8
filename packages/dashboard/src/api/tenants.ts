// Changes to tenants, with undo.
import type { Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts, useTexts } from "../app/texts.ts";
import { showError } from "../components/ui/toasts.tsx";
import { api } from "./client.ts";
import { fieldsOf, useUndoable } from "./undo.ts";

const texts = defineTexts({
  en: {
    on: (id: string) => `${id} is active. Deliveries to its endpoints resume.`,
    off: (id: string) => `${id} is inactive. Deliveries to its endpoints are paused.`,
  },
  de: {
    on: (id: string) => `${id} ist aktiv. Die Zustellungen an seine Endpunkte laufen weiter.`,
    off: (id: string) => `${id} ist inaktiv. Die Zustellungen an seine Endpunkte sind angehalten.`,
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
      showError(error);
    }
  };
}

/** Throws if the server rejects the change. */
export function useTenantChange() {
  const queries = useQueryClient();
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
    await queries.invalidateQueries();
  };
}
