// The way from a page of details back to its list: Endpoints / acme / ep_….
import { Link, useParams } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import { usePortalTenant } from "../../api/session.ts";
import { defineTexts } from "../../app/texts.ts";
import { TenantLink } from "./links.tsx";

const t = defineTexts({
  breadcrumbs: ["Breadcrumbs", "Brotkrümelnavigation"],
});

/** The entry of the navigation to which the page belongs; null for the entry's own page. */
export const ParentSection = createContext<{ readonly to: string; readonly name: string } | null>(null);

export function Breadcrumbs() {
  const section = useContext(ParentSection);
  const { tenant, ...params } = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const isPortal = usePortalTenant() !== null;
  if (section === null) return null;
  const current = params.id ?? params.name ?? tenant;
  return (
    <nav aria-label={t.breadcrumbs} className="pb-1 text-xs text-muted">
      <ol className="flex min-w-0 flex-wrap gap-x-1">
        <li>
          <Link to={section.to} className="hover:text-ink hover:underline">
            {section.name}
          </Link>
        </li>
        {!isPortal && tenant !== undefined && tenant !== current && (
          <li>
            <span aria-hidden="true">/ </span>
            <TenantLink tenant={tenant} className="hover:text-ink hover:underline" />
          </li>
        )}
        {current !== undefined && (
          <li aria-current="page" className="min-w-0 truncate">
            <span aria-hidden="true">/ </span>
            {current}
          </li>
        )}
      </ol>
    </nav>
  );
}
