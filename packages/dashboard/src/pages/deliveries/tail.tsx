// The live tail of deliveries and of events that matched no endpoint. While paused, new rows are held back.
import { useState } from "react";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { deliveryColumns } from "../../components/delivery/delivery-columns.tsx";
import { type Column, DataTable } from "../../components/list/data-table.tsx";
import { FilterBar } from "../../components/list/filter-bar.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import type { IconName } from "../../components/ui/icons.tsx";
import { NothingYet, Page, Panel } from "../../components/ui/page.tsx";
import { Ago } from "../../components/ui/time.tsx";
import type { StreamState } from "../../live/follow.ts";
import { useLive, useLiveState } from "../../live/live.ts";
import { idOf, mergeRows, rowsOf, type TailRow } from "../../live/row-changes.ts";

const t = defineTexts({
  live: "live",
  connecting: ["connecting", "Verbindung wird aufgebaut"],
  lost: ["not connected", "nicht verbunden"],
  lostDetail: [
    "The server cannot be reached. Reconnecting automatically; changes of the last five minutes are then shown.",
    "Der Server ist nicht erreichbar. Die Verbindung wird automatisch wiederhergestellt; Änderungen der letzten fünf Minuten werden dann nachgeholt.",
  ],
  refused: ["access denied", "Zugriff verweigert"],
  refusedDetail: [
    "Your key or role cannot read deliveries.",
    "Ihr Schlüssel oder Ihre Rolle darf Zustellungen nicht lesen.",
  ],
  over: ["signed out", "abgemeldet"],
  unmatched: ["no endpoint", "kein Endpunkt"],
  pause: ["Pause", "Anhalten"],
  resume: ["Resume", "Fortsetzen"],
  waiting: ["Show {count} new", "{count} neue anzeigen"],
  nothing: ["Waiting for events", "Warten auf Ereignisse"],
  nothingDetail: [
    "New events and deliveries appear here.",
    "Neue Ereignisse und Zustellungen erscheinen hier.",
  ],
  partial: [
    "Some changes are missing here: there were too many, or the connection was lost for too long. The lists of events and deliveries are complete.",
    "Einige Änderungen fehlen hier: Es waren zu viele, oder die Verbindung war zu lange unterbrochen. Die Listen der Ereignisse und Zustellungen sind vollständig.",
  ],
});

const LOOKS: Record<StreamState, { readonly tone: "ok" | "calm" | "bad"; readonly icon: IconName }> = {
  connecting: { tone: "calm", icon: "clock" },
  live: { tone: "ok", icon: "check" },
  lost: { tone: "bad", icon: "warning" },
  refused: { tone: "bad", icon: "lock" },
  over: { tone: "bad", icon: "lock" },
};

export function Tail() {
  const { filters } = useFilters();
  const state = useLiveState();
  const { rows, waiting, isPaused, isPartial, pause, resume } = useTail(filters);
  return (
    <Page
      title={t.liveTail}
      lead={
        <span role="status">
          <Badge {...LOOKS[state]}>{t[state]}</Badge>
          {state === "lost" && ` ${t.lostDetail}`}
          {state === "refused" && ` ${t.refusedDetail}`}
        </span>
      }
      actions={
        <Button icon={isPaused ? "send" : "pause"} onClick={isPaused ? resume : pause}>
          {isPaused ? t.resume : t.pause}
        </Button>
      }
    >
      <FilterBar fields={["state", "tenant", "type"]} />
      {isPartial && <p className="text-warn">{t.partial}</p>}
      <div aria-live="polite">
        {waiting > 0 && (
          <Button kind="primary" onClick={resume}>
            {t.waiting({ count: waiting })}
          </Button>
        )}
      </div>
      <Panel isFlush>
        {rows.length === 0 ? (
          <NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>
        ) : (
          <DataTable
            label={t.liveTail}
            rows={rows}
            columns={tailColumns()}
            keyOf={idOf}
            linkTo={(row) => ({
              to: row.kind === "delivery" ? "/deliveries/$id" : "/events/$id",
              params: { id: idOf(row) },
            })}
          />
        )}
      </Panel>
    </Page>
  );
}

/** The columns of deliveries, with cells for events without deliveries. */
function tailColumns(): readonly Column<TailRow>[] {
  const ofEvent: Readonly<Record<string, Column<TailRow & { kind: "event" }>["cell"]>> = {
    state: () => (
      <Badge tone="plain" icon="info">
        {t.unmatched}
      </Badge>
    ),
    type: ({ event: { type } }) => <code>{type}</code>,
    tenant: ({ event: { tenant } }) => tenant,
    created: ({ event: { created_at } }) => <Ago at={created_at} />,
  };
  return deliveryColumns().map(({ cell, below, ...column }) => ({
    ...column,
    ...(below && { below: createdBelow }),
    cell: (row) => (row.kind === "delivery" ? cell(row.delivery) : (ofEvent[column.key]?.(row) ?? "–")),
  }));
}

function createdBelow(row: TailRow) {
  const { created_at, tenant } = row.kind === "delivery" ? row.delivery : row.event;
  return (
    <span className="sm:hidden">
      <Ago at={created_at} /> · {tenant}
    </span>
  );
}

function useTail(filters: Filters) {
  const [rows, setRows] = useState<readonly TailRow[]>([]);
  const [held, setHeld] = useState<readonly TailRow[]>([]);
  const [isPaused, setPaused] = useState(false);
  const [isPartial, setPartial] = useState(false);
  useLive((changes) => {
    setPartial(changes.is_partial);
    const changedRows = rowsOf(changes, filters);
    if (isPaused) setHeld((before) => mergeRows(before, changedRows));
    else setRows((before) => mergeRows(before, changedRows));
  });
  return {
    rows,
    waiting: held.length,
    isPaused,
    isPartial,
    pause: () => setPaused(true),
    resume: () => {
      setPaused(false);
      setRows((before) => mergeRows(before, held.toReversed()));
      setHeld([]);
    },
  };
}
