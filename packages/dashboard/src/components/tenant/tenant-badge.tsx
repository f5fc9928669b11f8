// Whether a tenant is active.
import type { Tenant } from "@posthorn/client";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Badge } from "../ui/badge.tsx";

const texts = defineTexts({
  en: { active: "active", inactive: "inactive" },
  de: { active: "aktiv", inactive: "inaktiv" },
});

export function TenantBadge({ tenant: { is_active } }: { readonly tenant: Pick<Tenant, "is_active"> }) {
  const t = useTexts(texts);
  return (
    <Badge tone={is_active ? "ok" : "warn"} icon={is_active ? "check" : "pause"}>
      {is_active ? t.active : t.inactive}
    </Badge>
  );
}
