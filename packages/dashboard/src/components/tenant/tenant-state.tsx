// Whether a tenant is active, and the button that changes it.
import type { Tenant } from "@posthorn/client";
import { useTenantChange } from "../../api/undo.ts";
import { defineTexts } from "../../app/texts.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { Badge } from "../ui/badge.tsx";
import type { ButtonProps } from "../ui/button.tsx";

const t = defineTexts({
  inactive: ["inactive", "inaktiv"],
  on: [
    "{id} is active. Deliveries to its endpoints resume.",
    "{id} ist aktiv. Die Zustellungen an seine Endpunkte laufen weiter.",
  ],
  off: [
    "{id} is inactive. Deliveries to its endpoints are paused.",
    "{id} ist inaktiv. Die Zustellungen an seine Endpunkte sind angehalten.",
  ],
});

export function TenantBadge({ tenant: { is_active } }: { readonly tenant: Tenant }) {
  return (
    <Badge tone={is_active ? "ok" : "warn"} icon={is_active ? "check" : "pause"}>
      {is_active ? t.active : t.inactive}
    </Badge>
  );
}

export function TenantSwitch({ tenant, children, ...button }: ButtonProps & { readonly tenant: Tenant }) {
  const { id, is_active } = tenant;
  const change = useTenantChange();
  const toggle = () => change(tenant, { is_active: !is_active }, is_active ? t.off({ id }) : t.on({ id }));
  return (
    <ActionButton {...button} action={toggle}>
      {is_active ? t.deactivate : t.activate}
      {children}
    </ActionButton>
  );
}
