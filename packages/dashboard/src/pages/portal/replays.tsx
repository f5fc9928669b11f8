// Replays in the portal.
import type { Replay } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useSubmission } from "../../api/problems.ts";
import { useTenant } from "../../api/session.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import type { Column } from "../../components/list/data-table.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { ReplayBadge, ReplayProgress } from "../../components/replay/replay-progress.tsx";
import { StartReplay } from "../../components/replay/start-replay.tsx";
import { Button } from "../../components/ui/button.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";

const texts = defineTexts({
  en: {
    title: "Replays",
    lead: "Send events again. They have the same event ids, so your receiver can detect duplicates.",
    start: "New replay",
    state: "State",
    progress: "Progress",
    created: "Started",
    cancel: "Cancel",
    nothing: "No replays yet",
  },
  de: {
    title: "Replays",
    lead: "Ereignisse erneut senden. Sie haben dieselben Ereignis-IDs, sodass Ihr Empfänger Duplikate erkennt.",
    start: "Neues Replay",
    state: "Status",
    progress: "Fortschritt",
    created: "Gestartet",
    cancel: "Abbrechen",
    nothing: "Noch keine Replays",
  },
});

const REFRESH_MS = 2_000;

export function PortalReplays() {
  const t = useTexts(texts);
  const tenant = useTenant();
  const queries = useQueryClient();
  const [isStarting, setStarting] = useState(false);
  const list = useList(["replays"], (page, signal) => api.replays.list({ query: page, signal }), {
    watch: { keyOf: ({ id }) => id, everyMs: REFRESH_MS },
  });
  const { isBusy, submit } = useSubmission();
  const cancel = async (id: string) => {
    await submit(() => api.replays.cancel({ replay: id }));
    await queries.invalidateQueries({ queryKey: ["replays"] });
  };
  const columns: readonly Column<Replay>[] = [
    { key: "state", head: t.state, cell: ({ state }) => <ReplayBadge state={state} /> },
    { key: "progress", head: t.progress, cell: (replay) => <ReplayProgress replay={replay} /> },
    { key: "created", head: t.created, from: "sm", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: "cancel",
      head: "",
      cell: ({ id, state }) =>
        state === "running" && (
          <Button kind="quiet" isBusy={isBusy} onClick={() => void cancel(id)}>
            {t.cancel}
          </Button>
        ),
    },
  ];
  return (
    <ListPage
      title={t.title}
      lead={t.lead}
      actions={
        <Button kind="primary" icon="replay" onClick={() => setStarting(true)}>
          {t.start}
        </Button>
      }
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      nothingYet={<NothingYet title={t.nothing} />}
    >
      <StartReplay
        isOpen={isStarting}
        tenant={tenant}
        onClose={() => setStarting(false)}
        onStarted={() => {}}
      />
    </ListPage>
  );
}
