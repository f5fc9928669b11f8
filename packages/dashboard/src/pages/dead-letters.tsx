// What was given up: by reason, retried one by one, together, or deleted for good.
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useRetry } from "../api/retry.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Button, buttonClass } from "../components/button.tsx";
import { useDeliveryColumns } from "../components/delivery-columns.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { ListView } from "../components/list.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { NothingYet } from "../components/states.tsx";
import { say, sayError } from "../components/toasts.tsx";
import { deliveriesTold } from "../live/tellings.ts";

const texts = defineTexts({
  en: {
    title: "Dead letters",
    lead: "What was given up. It stays here until somebody retries or deletes it.",
    nothing: "Nothing was given up",
    retry: (count: number) => `Retry ${count}`,
    remove: (count: number) => `Delete ${count}`,
    sure: (count: number) =>
      count === 1 ? "Delete this dead letter?" : `Delete these ${count} dead letters?`,
    forGood: "They are gone for good: nobody can retry or replay them any more. Their events stay.",
    removed: (count: number) => `${count} deleted.`,
    replay: "Replay all that match",
  },
  de: {
    title: "Aufgegeben",
    lead: "Was aufgegeben wurde. Es bleibt hier, bis jemand es neu versucht oder löscht.",
    nothing: "Nichts wurde aufgegeben",
    retry: (count: number) => `${count} neu versuchen`,
    remove: (count: number) => `${count} löschen`,
    sure: (count: number) =>
      count === 1 ? "Diese Zustellung löschen?" : `Diese ${count} Zustellungen löschen?`,
    forGood:
      "Sie sind für immer weg: Niemand kann sie mehr neu versuchen oder wiederholen. Ihre Ereignisse bleiben.",
    removed: (count: number) => `${count} gelöscht.`,
    replay: "Alle, die passen, wiederholen",
  },
});

export function DeadLetters() {
  const t = useTexts(texts);
  const { filters, set, clear } = useFilters();
  const navigate = useNavigate();
  const retry = useRetry();
  const columns = useDeliveryColumns({ areDead: true });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isAsking, setAsking] = useState(false);
  const list = useList(
    ["dead-letters", filters],
    (page, signal) => api.deliveries.list({ query: { ...filters, state: "dead", ...page }, signal }),
    {
      watch: {
        keyOf: ({ id }) => id,
        live: (changes) => deliveriesTold(changes, { ...filters, state: "dead" }),
      },
    },
  );
  const { tenant, endpoint, type, reason } = filters;
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        chosen.size > 0 ? (
          <>
            <Button kind="danger" icon="dead" onClick={() => setAsking(true)}>
              {t.remove(chosen.size)}
            </Button>
            <Button
              kind="primary"
              icon="retry"
              onClick={() => void retry([...chosen]).then(() => setChosen(new Set()))}
            >
              {t.retry(chosen.size)}
            </Button>
          </>
        ) : (
          <Link
            to="/replays"
            search={{ new: "dead", tenant, endpoint, type, reason } as never}
            className={buttonClass()}
          >
            {t.replay}
          </Link>
        )
      }
    >
      <FilterBar
        filters={filters}
        onChange={set}
        fields={["tenant", "endpoint", "type", "reason", "created_after", "created_before"]}
      />
      <Panel isFlush>
        <ListView
          label={t.title}
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/deliveries/$id", params: { id } })}
          onClearFilters={clear}
          selection={{ keys: chosen, onChange: setChosen }}
          rowKeys={{ r: ({ id }) => void retry([id]) }}
          nothingYet={<NothingYet title={t.nothing} />}
        />
      </Panel>
      <DeleteDialog
        ids={[...chosen]}
        isOpen={isAsking}
        onClose={(areGone) => {
          setAsking(false);
          if (areGone) setChosen(new Set());
        }}
      />
    </Page>
  );
}

function DeleteDialog({
  ids,
  isOpen,
  onClose,
}: {
  readonly ids: readonly string[];
  readonly isOpen: boolean;
  readonly onClose: (areGone: boolean) => void;
}) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const remove = async () => {
    try {
      for (const id of ids) await api.deliveries.delete({ delivery: id });
      say(t.removed(ids.length));
      onClose(true);
    } catch (error) {
      sayError(error);
    }
    await queries.invalidateQueries();
  };
  return (
    <Dialog
      title={t.sure(ids.length)}
      isOpen={isOpen}
      onClose={() => onClose(false)}
      actions={
        <Button kind="danger" onClick={() => void remove()}>
          {t.remove(ids.length)}
        </Button>
      }
    >
      <p>{t.forGood}</p>
    </Dialog>
  );
}
