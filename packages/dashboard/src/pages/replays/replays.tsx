// Replays of all tenants.
import type { Replay } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import type { Column } from "../../components/list/data-table.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { ReplayBadge, ReplayProgress } from "../../components/replay/replay-progress.tsx";
import { StartReplay } from "../../components/replay/start-replay.tsx";
import { Button } from "../../components/ui/button.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { localTime } from "../../format/time.ts";

const texts = defineTexts({
  en: {
    title: "Replays",
    start: "New replay",
    state: "State",
    of: "Filter",
    everything: "all",
    progress: "Progress",
    created: "Started",
    nothing: "No replays yet",
    nothingDetail: "A replay sends all deliveries that match a filter again, with the same event ids.",
  },
  de: {
    title: "Replays",
    start: "Neues Replay",
    state: "Status",
    of: "Filter",
    everything: "alle",
    progress: "Fortschritt",
    created: "Gestartet",
    nothing: "Noch keine Replays",
    nothingDetail:
      "Ein Replay sendet alle Zustellungen, die zu einem Filter passen, erneut mit denselben Ereignis-IDs.",
  },
});

const REFRESH_MS = 2_000;

export function Replays() {
  const t = useTexts(texts);
  const { filters, clear } = useFilters();
  const navigate = useNavigate();
  const [isStarting, setStarting] = useState(filters.new !== undefined);
  const list = useList(["replays"], (page, signal) => api.replays.list({ query: page, signal }), {
    watch: { keyOf: ({ id }) => id, everyMs: REFRESH_MS },
  });
  const columns: readonly Column<Replay>[] = [
    { key: "state", head: t.state, cell: ({ state }) => <ReplayBadge state={state} /> },
    {
      key: "of",
      head: t.of,
      cell: (replay) => filterOf(replay) || t.everything,
      below: ({ created_at }) => (
        <span className="sm:hidden">
          <Ago at={created_at} />
        </span>
      ),
    },
    { key: "progress", head: t.progress, from: "sm", cell: (replay) => <ReplayProgress replay={replay} /> },
    { key: "created", head: t.created, from: "sm", cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return (
    <ListPage
      title={t.title}
      actions={
        <Button kind="primary" icon="replay" onClick={() => setStarting(true)}>
          {t.start}
        </Button>
      }
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: "/replays/$id", params: { id } })}
      nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
    >
      <StartReplay
        isOpen={isStarting}
        initial={initialOf(filters)}
        onClose={() => {
          setStarting(false);
          clear?.();
        }}
        onStarted={(id) => void navigate({ to: "/replays/$id", params: { id } })}
      />
    </ListPage>
  );
}

/** Converts the filters of a delivery list to the form. */
function initialOf({ new: states, created_after, created_before, ...rest }: Filters): Filters {
  return {
    ...rest,
    ...(states !== undefined && { states }),
    after: localTime(created_after ?? ""),
    before: localTime(created_before ?? ""),
  };
}

function filterOf({ tenant, endpoint, type, states, reason }: Replay): string {
  return [tenant, endpoint, type, states?.join(" + "), reason].filter((part) => part).join(" · ");
}
