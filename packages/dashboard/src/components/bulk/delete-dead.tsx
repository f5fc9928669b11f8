// A button that deletes all dead letters that match the filters, after it has counted them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { useHasScope } from "../../api/session.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ProblemList } from "../ui/field.tsx";
import { Failed } from "../ui/page.tsx";

const t = defineTexts({
  open: ["Delete all matching …", "Alle Treffer löschen …"],
  title: ["Delete dead letters", "Dead Letters löschen"],
  counting: ["Counting …", "Wird gezählt …"],
  nothing: ["No dead letter matches.", "Keine Dead Letters gefunden."],
  will: [
    "{count} dead {count|letter|letters} will be deleted permanently and cannot be retried or replayed. The events are kept.",
    "{count} {count|Dead Letter wird|Dead Letters werden} endgültig gelöscht. Eine erneute Zustellung ist danach nicht mehr möglich. Die Ereignisse bleiben erhalten.",
  ],
  willAtLeast: [
    "At least {count} dead letters will be deleted permanently and cannot be retried or replayed. The events are kept.",
    "Mindestens {count} Dead Letters werden endgültig gelöscht. Eine erneute Zustellung ist danach nicht mehr möglich. Die Ereignisse bleiben erhalten.",
  ],
  later: [
    "Deliveries that become dead from now on are kept.",
    "Zustellungen, die ab jetzt fehlschlagen, bleiben erhalten.",
  ],
  deleted: ["{count} deleted.", "{count} gelöscht."],
  stop: ["Stop", "Stoppen"],
});

interface Deletion {
  readonly deleted: number;
  readonly isRunning: boolean;
}

export function DeleteDead({ filters }: { readonly filters: Filters }) {
  const isAllowed = useHasScope("deliveries:retry");
  const [isOpen, setOpen] = useState(false);
  if (!isAllowed) return null;
  return (
    <>
      <Button kind="danger" icon="dead" onClick={() => setOpen(true)}>
        {t.open}
      </Button>
      {isOpen && <DeletionDialog filters={filters} onClose={() => setOpen(false)} />}
    </>
  );
}

function DeletionDialog({ filters, onClose }: { readonly filters: Filters; readonly onClose: () => void }) {
  const { tenant, endpoint, type, reason, created_after, created_before } = filters;
  const filter = { tenant, endpoint, type, reason, created_after, created_before };
  const queries = useQueryClient();
  const { problems, submit } = useSubmission();
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  const isStopped = useRef(false);
  const counted = useQuery({
    queryKey: ["count dead letters", filter],
    queryFn: () => count(filter),
    staleTime: 0,
    refetchOnWindowFocus: false,
  });
  const run = (dead_before: string) =>
    submit(async () => {
      let deleted = 0;
      setDeletion({ deleted, isRunning: true });
      try {
        let cursor: string | null = null;
        do {
          const body = { ...filter, dead_before, ...(cursor !== null && { cursor }) };
          const result = await api.deliveries.deleteDead({ body });
          if (!("deleted" in result)) return;
          deleted += result.deleted;
          cursor = result.next_cursor;
          setDeletion({ deleted, isRunning: true });
        } while (cursor !== null && !isStopped.current);
      } finally {
        setDeletion({ deleted, isRunning: false });
        await queries.invalidateQueries();
      }
    });
  const close = () => {
    if (deletion?.isRunning) isStopped.current = true;
    else onClose();
  };
  const found = counted.data;
  return (
    <Dialog
      title={t.title}
      onClose={close}
      closeLabel={deletion?.isRunning ? t.stop : undefined}
      actions={
        (deletion === null || deletion.isRunning) && (
          <Button
            kind="danger"
            isBusy={found === undefined || deletion !== null}
            disabledReason={found?.count === 0 ? t.nothing : undefined}
            onClick={() => found && void run(found.dead_before)}
          >
            {t.delete}
          </Button>
        )
      }
    >
      {counted.error !== null && <Failed error={counted.error} onRetry={() => void counted.refetch()} />}
      <div role="status" className="font-medium">
        {deletion !== null
          ? t.deleted({ count: whole(deletion.deleted) })
          : found
            ? describe(found)
            : t.counting}
      </div>
      {deletion === null && found !== undefined && found.count > 0 && <p className="text-muted">{t.later}</p>}
      <ProblemList problems={problems.elsewhere([])} />
    </Dialog>
  );
}

type Filter = Readonly<Record<"tenant" | "endpoint" | "type" | "reason", string | undefined>>;

async function count(filter: Filter) {
  const result = await api.deliveries.deleteDead({ body: { ...filter, dry_run: true } });
  if (!("count" in result)) throw new Error("The server deleted instead of counting.");
  return result;
}

function describe({ count, is_exact }: { readonly count: number; readonly is_exact: boolean }): string {
  if (count === 0) return t.nothing;
  return (is_exact ? t.will : t.willAtLeast)({ count: whole(count) });
}
