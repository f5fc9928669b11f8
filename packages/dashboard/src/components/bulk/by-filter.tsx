// A button that changes everything that the filters match, after it has counted it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ProblemList } from "../ui/field.tsx";
import { Failed } from "../ui/page.tsx";

const t = defineTexts({
  counting: ["Counting …", "Wird gezählt …"],
  stop: ["Stop", "Stoppen"],
});

export interface Counted {
  readonly count: number;
  readonly isExact: boolean;
}

export interface ByFilterProps<Count extends Counted> {
  /** Label of the button. */
  readonly open: string;
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly nothing: string;
  /** What will happen to what was counted. */
  readonly describe: (values: { readonly count: string; readonly isExact: boolean }) => string;
  /** What happens to matches that appear from now on. */
  readonly later: string;
  readonly done: (values: { readonly count: string }) => string;
  /** Counts by these filters again whenever they change. */
  readonly countKey: readonly unknown[];
  readonly count: () => Promise<Count>;
  /** Changes some of what was counted, and returns how many and where to continue. */
  readonly change: (
    counted: Count,
    cursor: { readonly cursor?: string },
  ) => Promise<{ readonly count: number; readonly next: string | null }>;
}

export function ByFilter<Count extends Counted>(props: ByFilterProps<Count>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        kind={props.isDangerous ? "danger" : "plain"}
        icon={props.isDangerous ? "dead" : "send"}
        onClick={() => setOpen(true)}
      >
        {props.open}
      </Button>
      {isOpen && <ByFilterDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ByFilterDialog<Count extends Counted>({
  title,
  action,
  isDangerous = false,
  nothing,
  describe,
  later,
  done,
  countKey,
  count,
  change,
  onClose,
}: ByFilterProps<Count> & { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const { problems, submit } = useSubmission();
  const [progress, setProgress] = useState<{ readonly changed: number; readonly isRunning: boolean } | null>(
    null,
  );
  const isStopped = useRef(false);
  const counted = useQuery({
    queryKey: ["count", ...countKey],
    queryFn: count,
    staleTime: 0,
    refetchOnWindowFocus: false,
  });
  const run = (found: Count) =>
    submit(async () => {
      let changed = 0;
      setProgress({ changed, isRunning: true });
      try {
        let cursor: string | null = null;
        do {
          const result = await change(found, cursor === null ? {} : { cursor });
          changed += result.count;
          cursor = result.next;
          setProgress({ changed, isRunning: true });
        } while (cursor !== null && !isStopped.current);
      } finally {
        setProgress({ changed, isRunning: false });
        await queries.invalidateQueries();
      }
    });
  const close = () => {
    if (progress?.isRunning) isStopped.current = true;
    else onClose();
  };
  const found = counted.data;
  const isDone = progress !== null && !progress.isRunning;
  return (
    <Dialog
      title={title}
      onClose={close}
      closeLabel={progress?.isRunning ? t.stop : undefined}
      actions={
        !isDone && (
          <Button
            kind={isDangerous ? "danger" : "primary"}
            isBusy={found === undefined || progress !== null}
            disabledReason={found?.count === 0 ? nothing : undefined}
            onClick={() => found && void run(found)}
          >
            {action}
          </Button>
        )
      }
    >
      {counted.error !== null && <Failed error={counted.error} onRetry={() => void counted.refetch()} />}
      <div role="status" className="font-medium">
        {progress !== null
          ? done({ count: whole(progress.changed) })
          : found === undefined
            ? t.counting
            : found.count === 0
              ? nothing
              : describe({ count: whole(found.count), isExact: found.isExact })}
      </div>
      {progress === null && found !== undefined && found.count > 0 && <p className="text-muted">{later}</p>}
      <ProblemList problems={problems.elsewhere([])} />
    </Dialog>
  );
}
