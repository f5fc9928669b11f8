// Deliveries as they come and as they go on, and events that nobody wanted. Somebody who reads is not disturbed: new rows
// wait while it is paused.
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { useDeliveryColumns } from "../../components/delivery/delivery-columns.tsx";
import { type Column, DataTable } from "../../components/list/data-table.tsx";
import { FilterBar } from "../../components/list/filter-bar.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import type { IconName } from "../../components/ui/icons.tsx";
import { Page, Panel } from "../../components/ui/panel.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import type { StreamState } from "../../live/follow.ts";
import { useLive, useLiveState } from "../../live/live.ts";
import { idOf, merged, rowsOf, type TailRow } from "../../live/tail-rows.ts";

const texts = defineTexts({
  en: {
    title: "Live tail",
    live: "live",
    connecting: "connecting",
    lost: "not connected",
    lostDetail: "The server does not answer. This goes on by itself, with what happened meanwhile.",
    refused: "not allowed",
    refusedDetail: "Your key or role may not see deliveries.",
    over: "signed out",
    unwanted: "nobody subscribed",
    pause: "Pause",
    resume: "Go on",
    waiting: (count: number) => `${count} new, show them`,
    nothing: "Waiting for the next event",
    nothingDetail: "Whatever is published from now on appears here.",
    partial:
      "More is happening than can be read: some is left out here. The lists of events and deliveries have all of it.",
  },
  de: {
    title: "Live",
    live: "live",
    connecting: "verbindet",
    lost: "nicht verbunden",
    lostDetail: "Der Server antwortet nicht. Es geht von selbst weiter, mit allem, was inzwischen geschah.",
    refused: "nicht erlaubt",
    refusedDetail: "Ihr Schlüssel oder Ihre Rolle darf Zustellungen nicht sehen.",
    over: "abgemeldet",
    unwanted: "niemand hat es abonniert",
    pause: "Anhalten",
    resume: "Weiter",
    waiting: (count: number) => `${count} neue zeigen`,
    nothing: "Wartet auf das nächste Ereignis",
    nothingDetail: "Was ab jetzt veröffentlicht wird, erscheint hier.",
    partial:
      "Es geschieht mehr, als man lesen kann: Einiges fehlt hier. Die Listen der Ereignisse und Zustellungen haben alles.",
  },
});

const LOOKS: Record<StreamState, { readonly tone: "ok" | "calm" | "bad"; readonly icon: IconName }> = {
  connecting: { tone: "calm", icon: "clock" },
  live: { tone: "ok", icon: "check" },
  lost: { tone: "bad", icon: "warning" },
  refused: { tone: "bad", icon: "lock" },
  over: { tone: "bad", icon: "lock" },
};

export function Tail() {
  const t = useTexts(texts);
  const { filters, set } = useFilters();
  const navigate = useNavigate();
  const columns = useTailColumns();
  const state = useLiveState();
  const { rows, waiting, isPaused, isPartial, pause, resume } = useTail(filters);
  return (
    <Page
      title={t.title}
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
      <FilterBar filters={filters} onChange={set} fields={["state", "tenant", "type"]} />
      {isPartial && <p className="text-warn">{t.partial}</p>}
      <div aria-live="polite">
        {waiting > 0 && (
          <Button kind="primary" onClick={resume}>
            {t.waiting(waiting)}
          </Button>
        )}
      </div>
      <Panel isFlush>
        {rows.length === 0 ? (
          <NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>
        ) : (
          <DataTable
            label={t.title}
            rows={rows}
            columns={columns}
            keyOf={idOf}
            onOpen={(row) =>
              void navigate({
                to: row.kind === "delivery" ? "/deliveries/$id" : "/events/$id",
                params: { id: idOf(row) },
              })
            }
          />
        )}
      </Panel>
    </Page>
  );
}

/** The columns of deliveries; of an event that has none, what there is to say. */
function useTailColumns(): readonly Column<TailRow>[] {
  const t = useTexts(texts);
  const ofEvent: Readonly<Record<string, Column<TailRow & { kind: "event" }>["cell"]>> = {
    state: ({ event: { id } }) => (
      <Link to="/events/$id" params={{ id }}>
        <Badge tone="plain" icon="info">
          {t.unwanted}
        </Badge>
      </Link>
    ),
    type: ({ event: { type } }) => <code className="font-mono text-xs">{type}</code>,
    tenant: ({ event: { tenant } }) => tenant,
    created: ({ event: { created_at } }) => <Ago at={created_at} />,
  };
  return (
    useDeliveryColumns()
      // whose URL has to be asked for: rows of many tenants come by here faster than anybody should ask
      .filter(({ key }) => key !== "endpoint")
      .map(({ cell, below, ...column }) => ({
        ...column,
        ...(below && { below: createdBelow }),
        cell: (row) => (row.kind === "delivery" ? cell(row.delivery) : (ofEvent[column.key]?.(row) ?? "–")),
      }))
  );
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
    const told = rowsOf(changes, filters);
    if (isPaused) setHeld((before) => merged(before, told));
    else setRows((before) => merged(before, told));
  });
  return {
    rows,
    waiting: held.length,
    isPaused,
    isPartial,
    pause: () => setPaused(true),
    resume: () => {
      setPaused(false);
      setRows((before) => merged(before, held.toReversed()));
      setHeld([]);
    },
  };
}
