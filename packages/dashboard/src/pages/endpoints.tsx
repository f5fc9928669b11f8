// Endpoints of all tenants: who is well, who is not, and why.
import { useNavigate } from "@tanstack/react-router";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { useEndpointColumns } from "../components/endpoint-columns.tsx";
import { Choice } from "../components/field.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { ListView } from "../components/list.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { NothingYet } from "../components/states.tsx";

const texts = defineTexts({
  en: {
    title: "Endpoints",
    which: "Which",
    all: "all",
    active: "active",
    disabled: "disabled",
    failing: "failing",
    nothing: "There is no endpoint yet",
    nothingDetail: "Open a tenant and give it one.",
  },
  de: {
    title: "Endpunkte",
    which: "Welche",
    all: "alle",
    active: "aktive",
    disabled: "abgeschaltete",
    failing: "mit Fehlern",
    nothing: "Es gibt noch keinen Endpunkt",
    nothingDetail: "Öffnen Sie einen Mandanten und geben Sie ihm einen.",
  },
});

const WHICH = ["active", "disabled", "failing"] as const;
const REFRESH_MS = 10_000;

export function Endpoints() {
  const t = useTexts(texts);
  const { filters, set, clear } = useFilters();
  const navigate = useNavigate();
  const columns = useEndpointColumns();
  const state = WHICH.find((which) => which === filters.which);
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
    <Page title={t.title}>
      <div className="grid gap-3 sm:grid-cols-[12rem_1fr]">
        <Choice label={t.which} value={state ?? ""} onChange={(event) => set({ which: event.target.value })}>
          <option value="">{t.all}</option>
          {WHICH.map((which) => (
            <option key={which} value={which}>
              {t[which]}
            </option>
          ))}
        </Choice>
        <FilterBar filters={filters} onChange={set} fields={["tenant"]} />
      </div>
      <Panel isFlush>
        <ListView
          label={t.title}
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          onOpen={({ tenant, id }) =>
            void navigate({ to: "/tenants/$tenant/endpoints/$id", params: { tenant, id } })
          }
          onClearFilters={clear}
          nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
        />
      </Panel>
    </Page>
  );
}
