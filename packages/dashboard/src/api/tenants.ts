// Switches a tenant on and off, and says what follows from it.
import type { Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts, useTexts } from "../app/texts.ts";
import { say, sayError } from "../components/toasts.tsx";
import { api } from "./client.ts";

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
  const queries = useQueryClient();
  const put = async (id: string, isActive: boolean) => {
    await api.tenants.put({ tenant: id, body: { is_active: isActive } });
    await queries.invalidateQueries();
  };
  return async ({ id, is_active }) => {
    try {
      await put(id, !is_active);
      const undo = () => void put(id, is_active).catch(sayError);
      say(is_active ? t.off(id) : t.on(id), { undo });
    } catch (error) {
      sayError(error);
    }
  };
}
