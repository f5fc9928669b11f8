// Sending again, for a customer: what failed while their receiver was down, or what they missed.
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
    title: "Replay",
    lead: "Send again what you missed. It comes with the same event ids, so your receiver can tell.",
    start: "New replay",
    state: "State",
    progress: "Progress",
    created: "Started",
    cancel: "Cancel",
    nothing: "Nothing has been replayed yet",
  },
  de: {
    title: "Wiederholen",
    lead: "Noch einmal senden, was Ihnen fehlt. Es kommt mit denselben Ereignis-Ids, Ihr Empfänger erkennt es also.",
    start: "Neue Wiederholung",
    state: "Zustand",
    progress: "Fortschritt",
    created: "Begonnen",
    cancel: "Abbrechen",
    nothing: "Noch wurde nichts wiederholt",
  },
});

const WATCHED_MS = 2_000;

export function PortalReplays() {
  const t = useTexts(texts);
  const tenant = useTenant();
  const queries = useQueryClient();
  const [isStarting, setStarting] = useState(false);
  const list = useList(["replays"], (page, signal) => api.replays.list({ query: page, signal }), {
    watch: { keyOf: ({ id }) => id, everyMs: WATCHED_MS },
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
