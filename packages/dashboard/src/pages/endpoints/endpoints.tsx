// Endpoints of all tenants.
import type { Endpoint } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { EndpointBulk } from "../../components/bulk/endpoint-bulk.tsx";
import { useSelection } from "../../components/bulk/selection.ts";
import { useEndpointColumns } from "../../components/endpoint/endpoint-columns.tsx";
import { WHICH_ENDPOINTS } from "../../components/list/filter-bar.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { NothingYet } from "../../components/ui/states.tsx";

const texts = defineTexts({
  en: {
    title: "Endpoints",
    nothing: "No endpoints yet",
    nothingDetail: "Open a tenant to create one.",
  },
  de: {
    title: "Endpunkte",
    nothing: "Noch keine Endpunkte",
    nothingDetail: "Öffnen Sie einen Mandanten, um einen zu erstellen.",
  },
});

const REFRESH_MS = 10_000;

export function Endpoints() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const selection = useSelection<Endpoint>();
  const navigate = useNavigate();
  const columns = useEndpointColumns();
  const state = WHICH_ENDPOINTS.find((which) => which === filters.which);
  const list = useList(
    ["endpoints", filters],
    (page, signal) =>
      api.endpoints.listAll({
        query: {
          ...(filters.tenant !== undefined && { tenant: filters.tenant }),
          ...(state && { state }),
          ...page,
        },
        signal,
      }),
    { watch: { keyOf: ({ id }) => id, everyMs: REFRESH_MS } },
  );
  return (
    <ListPage
      title={t.title}
      filterBy={["which", "tenant"]}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ tenant, id }) =>
        void navigate({ to: "/tenants/$tenant/endpoints/$id", params: { tenant, id } })
      }
      selection={selection}
      nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
    >
      <EndpointBulk selection={selection} />
    </ListPage>
  );
}
