// Whether something arrived: a green tick, or the reason in words with a remedy. It changes while one looks on.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWatchedDelivery } from "../../api/watched-delivery.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, explanationKey, explanations } from "../../format/delivery-words.ts";
import { duration } from "../../format/time.ts";
import { Icon } from "../ui/icons.tsx";
import { StateBadge } from "./state-badge.tsx";

const texts = defineTexts({
  en: {
    waiting: "Sent; waiting for the receiver's answer …",
    answer: (status: number, took: string) => `It was answered with ${status} after ${took}.`,
    failed: "It did not work yet",
    open: "Open the delivery",
  },
  de: {
    waiting: "Gesendet; wartet auf die Antwort des Empfängers …",
    answer: (status: number, took: string) => `Die Antwort war ${status} nach ${took}.`,
    failed: "Es hat noch nicht geklappt",
    open: "Zustellung öffnen",
  },
});

export function Arrival({
  delivery: id,
  arrived,
}: {
  /** Null: nothing was sent yet. */
  readonly delivery: string | null;
  /** What to say when it did. */
  readonly arrived: ReactNode;
}) {
  const t = useTexts(texts);
  const words = useTexts(explanations);
  const language = useLanguage();
  const { data } = useWatchedDelivery(id);
  const last = data?.attempts.at(-1);
  const hasArrived = data?.state === "success";
  const why = last !== undefined && !hasArrived ? explain(words, explanationKey(last), language) : null;
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
