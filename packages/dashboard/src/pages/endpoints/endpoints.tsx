// Endpoints of all tenants.
import type { Endpoint } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { BulkBar, useBulkAction, useSelection } from "../../components/bulk/bulk-bar.tsx";
import { BulkDialog } from "../../components/bulk/bulk-dialog.tsx";
import { endpointColumns } from "../../components/endpoint/endpoint-columns.tsx";
import type { Selection } from "../../components/list/data-table.tsx";
import { WHICH_ENDPOINTS } from "../../components/list/filter-bar.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { Button } from "../../components/ui/button.tsx";
import { planSwitch } from "../../format/bulk-plan.ts";

const t = defineTexts({
  nothingDetail: ["Open a tenant to create one.", "Öffnen Sie einen Mandanten, um einen zu erstellen."],
  disableSelected: ["Disable …", "Deaktivieren …"],
  disableTitle: ["Disable selected endpoints", "Ausgewählte Endpunkte deaktivieren"],
  disabled: [
    "{count} {count|endpoint|endpoints} will be disabled. Deliveries are kept and continue after enabling.",
    "{count} {count|Endpunkt wird|Endpunkte werden} deaktiviert. Zustellungen bleiben erhalten und werden nach dem Aktivieren fortgesetzt.",
  ],
  enableSelected: ["Enable …", "Aktivieren …"],
  enableTitle: ["Enable selected endpoints", "Ausgewählte Endpunkte aktivieren"],
  enabled: [
    "{count} {count|endpoint|endpoints} will be enabled. The backlog is delivered, oldest first. To discard it instead, enable endpoints individually.",
    "{count} {count|Endpunkt wird|Endpunkte werden} aktiviert. Der Rückstand wird zugestellt, die ältesten Zustellungen zuerst. Um ihn zu verwerfen, aktivieren Sie die Endpunkte einzeln.",
  ],
});

const REFRESH_MS = 10_000;

export function Endpoints() {
  const { filters } = useFilters();
  const selection = useSelection<Endpoint>();
  const state = WHICH_ENDPOINTS.find((which) => which === filters.which);
  const query = { ...(filters.tenant !== undefined && { tenant: filters.tenant }), ...(state && { state }) };
  const list = useList("endpoints.listAll", { query }, { watch: { everyMs: REFRESH_MS } });
  return (
    <ListPage
      title={t.endpoints}
      filterBy={["which", "tenant"]}
      list={list}
      columns={endpointColumns()}
      linkTo={({ tenant, id }) => ({ to: "/tenants/$tenant/endpoints/$id", params: { tenant, id } })}
      selection={selection}
      nothing={t.noEndpoints}
      nothingDetail={t.nothingDetail}
    >
      <EndpointBulk selection={selection} />
    </ListPage>
  );
}

/** Disables or enables the selected endpoints. */
function EndpointBulk({ selection }: { readonly selection: Selection<Endpoint> }) {
  const { action, setAction, close, rows } = useBulkAction<"enable" | "disable", Endpoint>(selection);
  return (
    <>
      <BulkBar selection={selection}>
        <Button icon="pause" onClick={() => setAction("disable")}>
          {t.disableSelected}
        </Button>
        <Button icon="check" onClick={() => setAction("enable")}>
          {t.enableSelected}
        </Button>
      </BulkBar>
      {action !== null && (
        <BulkDialog
          title={t[`${action}Title`]}
          action={t[action]}
          isDangerous={action === "disable"}
          plan={planSwitch(rows, action === "enable")}
          describe={t[`${action}d`]}
          parts={[
            { title: t.tenants, nameOf: ({ tenant }) => tenant },
            { title: t.endpoints, nameOf: ({ name }) => name },
          ]}
          act={({ tenant, id }) => api.endpoints[action]({ tenant, endpoint: id })}
          onClose={close}
        />
      )}
    </>
  );
}
