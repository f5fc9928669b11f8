// Shows live whether a delivery arrived, or why not.
import type { ReactNode } from "react";
import { useWatchedDelivery } from "../../api/deliveries.ts";
import { defineTexts } from "../../app/texts.ts";
import { explain, explanationKey } from "../../format/delivery-texts.ts";
import { duration } from "../../format/time.ts";
import { Icon } from "../ui/icons.tsx";
import { IdLink } from "../ui/links.tsx";
import { StateBadge } from "./state-badge.tsx";

const t = defineTexts({
  waiting: ["Waiting for the receiver's response …", "Warten auf die Antwort des Empfängers …"],
  answer: [
    "The receiver returned HTTP {status} after {took}.",
    "Der Empfänger hat nach {took} HTTP {status} zurückgegeben.",
  ],
  failed: ["Not delivered yet", "Noch nicht zugestellt"],
});

export function Arrival({
  delivery: id,
  arrived,
}: {
  /** Null if nothing was sent yet. */
  readonly delivery: string | null;
  readonly arrived: ReactNode;
}) {
  const { data } = useWatchedDelivery(id);
  const last = data?.attempts.at(-1);
  const hasArrived = data?.state === "success";
  const why = last !== undefined && !hasArrived ? explain(explanationKey(last)) : null;
  return (
    <div role="status" className="flex flex-col gap-2">
      {id !== null && !hasArrived && why === null && <p>{t.waiting}</p>}
      {hasArrived && (
        <div>
          <p className="flex items-center gap-2 text-md font-semibold text-ok">
            <Icon name="check" className="size-6" />
            {arrived}
          </p>
          {last?.status_code != null && last.duration_ms !== null && (
            <p className="text-muted">
              {t.answer({ status: last.status_code, took: duration(last.duration_ms) })}
            </p>
          )}
        </div>
      )}
      {why !== null && data !== undefined && (
        <div className="rounded-md bg-warn-ground p-3 text-warn">
          <p className="font-semibold">
            {t.failed}: {why.what} <StateBadge state={data.state} />
          </p>
          <p>{why.remedy}</p>
        </div>
      )}
      {data !== undefined && (
        <p>
          <IdLink to="/deliveries/$id" id={data.id}>
            {t.openDelivery}
          </IdLink>
        </p>
      )}
    </div>
  );
}
