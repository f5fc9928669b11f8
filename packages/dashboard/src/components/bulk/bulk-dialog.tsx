// Something is done with many rows at once: first it says what would happen and to what, then how far it is, then what
// became of each. What could not be done is told, and stays chosen.
import { PosthornApiError } from "@posthorn/client/web";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { type Outcome, runAll } from "../../api/run-all.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { countBy, type Plan, type Refusal } from "../../format/bulk-plan.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

const texts = defineTexts({
  en: {
    cannot: (count: number) => (count === 1 ? "1 is left alone:" : `${count} are left alone:`),
    reasons: {
      in_flight: "being sent right now",
      delivered: "delivered already",
      endpoint_disabled: "the endpoint is disabled; enable it first",
      endpoint_not_agreed: "the endpoint has not agreed to webhooks",
      endpoint_deleted: "the endpoint was deleted",
      tenant_inactive: "the tenant is inactive; activate it first",
      not_dead: "not dead, so not to be deleted",
      is_active: "active already",
      is_disabled: "disabled already",
      is_subscription: "WebSub subscriptions, which their subscribers alone change",
    } satisfies Record<Refusal, string>,
    looking: "Looking at what they are …",
    nothing: "There is nothing to do.",
    running: (finished: number, all: number) => `${finished} of ${all}`,
    stop: "Stop here",
    done: (done: number, all: number) =>
      done === all ? `Done with all ${all}.` : `Done with ${done} of ${all}.`,
    failed: (count: number) =>
      count === 1 ? "1 was refused, and stays chosen:" : `${count} were refused, and stay chosen:`,
    left: (count: number) =>
      count === 1 ? "1 was not begun, and stays chosen." : `${count} were not begun, and stay chosen.`,
    unreachable: "the server could not be reached",
    more: (count: number) => `and ${count} more`,
  },
  de: {
    cannot: (count: number) =>
      count === 1 ? "Eines bleibt, wie es ist:" : `${count} bleiben, wie sie sind:`,
    reasons: {
      in_flight: "wird gerade gesendet",
      delivered: "schon zugestellt",
      endpoint_disabled: "der Endpunkt ist abgeschaltet; zuerst einschalten",
      endpoint_not_agreed: "der Endpunkt hat Webhooks nicht zugestimmt",
      endpoint_deleted: "der Endpunkt wurde gelöscht",
      tenant_inactive: "der Mandant ist inaktiv; zuerst aktivieren",
      not_dead: "nicht aufgegeben, also nicht zu löschen",
      is_active: "schon aktiv",
      is_disabled: "schon abgeschaltet",
      is_subscription: "WebSub-Abonnements, die nur ihre Abonnenten ändern",
    },
    looking: "Sieht nach, was es ist …",
    nothing: "Es gibt nichts zu tun.",
    running: (finished: number, all: number) => `${finished} von ${all}`,
    stop: "Hier anhalten",
    done: (done: number, all: number) =>
      done === all ? `Alle ${all} erledigt.` : `${done} von ${all} erledigt.`,
    failed: (count: number) =>
      count === 1
        ? "Eines wurde abgelehnt und bleibt gewählt:"
        : `${count} wurden abgelehnt und bleiben gewählt:`,
    left: (count: number) =>
      count === 1
        ? "Eines wurde nicht begonnen und bleibt gewählt."
        : `${count} wurden nicht begonnen und bleiben gewählt.`,
    unreachable: "der Server war nicht erreichbar",
    more: (count: number) => `und ${count} weitere`,
  },
});

export interface BulkDialogProps<Row> {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Null while it is being found out. */
  readonly plan: Plan<Row> | null;
  /** What will happen, in words. */
  readonly says: (count: number) => ReactNode;
  /** What they are of: tenants, endpoints, types. */
  readonly parts: readonly { readonly title: string; readonly nameOf: (row: Row) => string }[];
  /** To be chosen before. */
  readonly options?: ReactNode;
  readonly act: (row: Row) => Promise<unknown>;
  /** With those that were done; null: nothing was. */
  readonly onClose: (done: readonly Row[] | null) => void;
}

export function BulkDialog<Row>(props: BulkDialogProps<Row>) {
  const { title, action, isDangerous = false, plan, act, onClose } = props;
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [finished, setFinished] = useState<number | null>(null);
  const [outcome, setOutcome] = useState<Outcome<Row> | null>(null);
  const stop = useRef(new AbortController());
  // what is being done does not change while it is done, though the list behind it may
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
      isOpen
      onClose={close}
      {...(outcome === null && {
        closes: finished === null ? undefined : t.stop,
        actions: (
          <Button
            kind={isDangerous ? "danger" : "primary"}
            isBusy={plan === null || finished !== null}
            refusedBecause={plan?.doable.length === 0 ? t.nothing : undefined}
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

const MOST_NAMES = 5;

function Preview<Row>({ plan, says, parts, options }: BulkDialogProps<Row> & { readonly plan: Plan<Row> }) {
  const t = useTexts(texts);
  const { doable, refused } = plan;
  return (
    <>
      <div role="status" className="font-medium">
        {doable.length === 0 ? t.nothing : says(doable.length)}
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
                    {names.slice(0, MOST_NAMES).map(({ name, count }) => (
                      <li key={name} className="break-all">
                        {name} <span className="text-muted tabular-nums">× {count}</span>
                      </li>
                    ))}
                    {names.length > MOST_NAMES && (
                      <li className="text-muted">{t.more(names.length - MOST_NAMES)}</li>
                    )}
                  </ul>
                </dd>
              </div>
            );
          })}
        </dl>
      )}
      {refused.length > 0 && (
        <div className="rounded-md border border-line bg-warn-ground p-3 text-warn">
          <p className="font-medium">{t.cannot(refused.reduce((sum, { rows }) => sum + rows.length, 0))}</p>
          <ul>
            {refused.map(({ why, rows }) => (
              <li key={why}>
                {rows.length} × {t.reasons[why]}
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
  const t = useTexts(texts);
  return (
    <p className="flex items-center gap-3">
      <progress
        aria-label={t.running(finished, all)}
        value={finished}
        max={all}
        className="h-2 flex-1 accent-accent"
      />
      <span className="tabular-nums">{t.running(finished, all)}</span>
    </p>
  );
}

function Result<Row>({ outcome: { done, failed, left } }: { readonly outcome: Outcome<Row> }) {
  const t = useTexts(texts);
  const reasons = countBy(failed, ({ error }) =>
    error instanceof PosthornApiError ? error.message : t.unreachable,
  );
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="font-medium">{t.done(done.length, done.length + failed.length + left.length)}</p>
      {failed.length > 0 && (
        <div className="rounded-md border border-line bg-bad-ground p-3 text-bad">
          <p className="font-medium">{t.failed(failed.length)}</p>
          <ul>
            {reasons.map(({ name, count }) => (
              <li key={name} className="break-words">
                {count} × {name}
              </li>
            ))}
          </ul>
        </div>
      )}
      {left.length > 0 && <p>{t.left(left.length)}</p>}
    </div>
  );
}
