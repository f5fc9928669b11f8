// Shows live whether a delivery arrived, or why not.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWatchedDelivery } from "../../api/watched-delivery.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, explanationKey } from "../../format/delivery-texts.ts";
import { duration } from "../../format/time.ts";
import { Icon } from "../ui/icons.tsx";
import { StateBadge } from "./state-badge.tsx";

const texts = defineTexts({
  en: {
    waiting: "Waiting for the receiver's response …",
    answer: (status: number, took: string) => `The receiver returned HTTP ${status} after ${took}.`,
    failed: "Not delivered yet",
    open: "Open delivery",
  },
  de: {
    waiting: "Warten auf die Antwort des Empfängers …",
    answer: (status: number, took: string) => `Der Empfänger hat nach ${took} HTTP ${status} zurückgegeben.`,
    failed: "Noch nicht zugestellt",
    open: "Zustellung öffnen",
  },
});

export function Arrival({
  delivery: id,
  arrived,
}: {
  /** Null if nothing was sent yet. */
  readonly delivery: string | null;
  /** The text shown on success. */
  readonly arrived: ReactNode;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { data } = useWatchedDelivery(id);
  const last = data?.attempts.at(-1);
  const hasArrived = data?.state === "success";
  const why = last !== undefined && !hasArrived ? explain(explanationKey(last), language) : null;
  return (
    <div role="status" className="flex flex-col gap-2">
      {id !== null && !hasArrived && why === null && <p>{t.waiting}</p>}
      {hasArrived && (
        <div>
          <p className="flex items-center gap-2 text-base font-semibold text-ok">
            <Icon name="check" className="size-6" />
            {arrived}
          </p>
          {last?.status_code != null && last.duration_ms !== null && (
            <p className="text-muted">{t.answer(last.status_code, duration(last.duration_ms))}</p>
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
          <Link to="/deliveries/$id" params={{ id: data.id }} className="underline">
            {t.open}
          </Link>
        </p>
      )}
    </div>
  );
}
