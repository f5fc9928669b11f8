// A bulk action: shows the plan, then the progress, then the results. Failed rows stay selected.
import { PosthornApiError } from "@posthorn/client/web";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { type Outcome, runAll } from "../../api/run-all.ts";
import { defineTexts } from "../../app/texts.ts";
import { countBy, type Plan, skipTexts } from "../../format/bulk-plan.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

const t = defineTexts({
  cannot: ["{count} skipped:", "{count} übersprungen:"],
  looking: ["Checking the selection …", "Auswahl wird geprüft …"],
  nothing: ["Nothing to do.", "Nichts zu tun."],
  running: ["{finished} of {all}", "{finished} von {all}"],
  stop: ["Stop", "Stoppen"],
  done: ["{done} of {all} done.", "{done} von {all} erledigt."],
  failed: ["{count} failed, still selected:", "{count} fehlgeschlagen, weiterhin ausgewählt:"],
  left: ["{count} not started, still selected.", "{count} nicht gestartet, weiterhin ausgewählt."],
  unreachable: ["the server could not be reached", "der Server war nicht erreichbar"],
  more: ["and {count} more", "und {count} weitere"],
});

export interface BulkDialogProps<Row> {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Null while loading. */
  readonly plan: Plan<Row> | null;
  readonly describe: (values: { readonly count: number }) => string;
  /** Groups shown in the preview, such as tenants or endpoints. */
  readonly parts: readonly { readonly title: string; readonly nameOf: (row: Row) => string }[];
  readonly options?: ReactNode;
  readonly act: (row: Row) => Promise<unknown>;
  /** Receives the rows that succeeded; null if the action was not run. */
  readonly onClose: (done: readonly Row[] | null) => void;
}

export function BulkDialog<Row>(props: BulkDialogProps<Row>) {
  const { title, action, isDangerous = false, plan, act, onClose } = props;
  const queries = useQueryClient();
  const [finished, setFinished] = useState<number | null>(null);
  const [outcome, setOutcome] = useState<Outcome<Row> | null>(null);
  const stop = useRef(new AbortController());
  // the plan must not change while it runs, even if the list does
  const begun = useRef<Plan<Row> | null>(null);
  const run = async () => {
    if (plan === null) return;
    begun.current = plan;
    setFinished(0);
    setOutcome(await runAll(plan.doable, act, { signal: stop.current.signal, onProgress: setFinished }));
    await queries.invalidateQueries();
  };
  const close = () => {
    if (finished !== null && outcome === null) stop.current.abort();
    else onClose(outcome?.done ?? null);
  };
  return (
    <Dialog
      title={title}
      onClose={close}
      {...(outcome === null && {
        closeLabel: finished === null ? undefined : t.stop,
        actions: (
          <Button
            kind={isDangerous ? "danger" : "primary"}
            isBusy={plan === null || finished !== null}
            disabledReason={plan?.doable.length === 0 ? t.nothing : undefined}
            onClick={() => void run()}
          >
            {action}
          </Button>
        ),
      })}
    >
      {outcome !== null ? (
        <Result outcome={outcome} />
      ) : finished !== null ? (
        <Progress finished={finished} all={begun.current?.doable.length ?? 0} />
      ) : plan === null ? (
        <p role="status">{t.looking}</p>
      ) : (
        <Preview {...props} plan={plan} />
      )}
    </Dialog>
  );
}

const MAX_NAMES = 5;

function Preview<Row>({
  plan,
  describe,
  parts,
  options,
}: BulkDialogProps<Row> & { readonly plan: Plan<Row> }) {
  const { doable, skipped } = plan;
  return (
    <>
      <div role="status" className="font-medium">
        {doable.length === 0 ? t.nothing : describe({ count: doable.length })}
      </div>
      {doable.length > 0 && (
        <dl className="grid grid-cols-[minmax(5rem,auto)_1fr] gap-x-4 gap-y-1.5">
          {parts.map(({ title, nameOf }) => {
            const names = countBy(doable, nameOf);
            return (
              <div key={title} className="contents">
                <dt className="text-muted">{title}</dt>
                <dd className="min-w-0">
                  <ul>
                    {names.slice(0, MAX_NAMES).map(({ name, count }) => (
                      <li key={name} className="break-all">
                        {name} <span className="text-muted tabular-nums">× {count}</span>
                      </li>
                    ))}
                    {names.length > MAX_NAMES && (
                      <li className="text-muted">{t.more({ count: names.length - MAX_NAMES })}</li>
                    )}
                  </ul>
                </dd>
              </div>
            );
          })}
        </dl>
      )}
      {skipped.length > 0 && (
        <div className="rounded-md border border-line bg-warn-ground p-3 text-warn">
          <p className="font-medium">
            {t.cannot({ count: skipped.reduce((sum, { rows }) => sum + rows.length, 0) })}
          </p>
          <ul>
            {skipped.map(({ why, rows }) => (
              <li key={why}>
                {rows.length} × {skipTexts[why]}
              </li>
            ))}
          </ul>
        </div>
      )}
      {options}
    </>
  );
}

function Progress({ finished, all }: { readonly finished: number; readonly all: number }) {
  return (
    <p className="flex items-center gap-3">
      <progress
        aria-label={t.running({ finished, all })}
        value={finished}
        max={all}
        className="h-2 flex-1 accent-accent"
      />
      <span className="tabular-nums">{t.running({ finished, all })}</span>
    </p>
  );
}

function Result<Row>({ outcome: { done, failed, left } }: { readonly outcome: Outcome<Row> }) {
  const reasons = countBy(failed, ({ error }) =>
    error instanceof PosthornApiError ? error.message : t.unreachable,
  );
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="font-medium">
        {t.done({ done: done.length, all: done.length + failed.length + left.length })}
      </p>
      {failed.length > 0 && (
        <div className="rounded-md border border-line bg-bad-ground p-3 text-bad">
          <p className="font-medium">{t.failed({ count: failed.length })}</p>
          <ul>
            {reasons.map(({ name, count }) => (
              <li key={name} className="break-words">
                {count} × {name}
              </li>
            ))}
          </ul>
        </div>
      )}
      {left.length > 0 && <p>{t.left({ count: left.length })}</p>}
    </div>
  );
}
