// Buttons that release or discard all rejected events that match the filters, after they have counted them.
import { api } from "../../api/client.ts";
import { useHasScope } from "../../api/session.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { ByFilter } from "./by-filter.tsx";

const t = defineTexts({
  nothing: ["No rejected event matches.", "Keine abgelehnten Ereignisse gefunden."],
  later: [
    "Events rejected from now on are not affected.",
    "Ereignisse, die ab jetzt abgelehnt werden, sind nicht betroffen.",
  ],
  releaseAll: ["Release all matching …", "Alle Treffer freigeben …"],
  releaseTitle: ["Release rejected events", "Abgelehnte Ereignisse freigeben"],
  willRelease: [
    "{count} rejected {count|event|events} will be delivered without another check.",
    "{count} abgelehnte {count|Ereignis wird|Ereignisse werden} ohne weitere Prüfung zugestellt.",
  ],
  willReleaseAtLeast: [
    "At least {count} rejected events will be delivered without another check.",
    "Mindestens {count} abgelehnte Ereignisse werden ohne weitere Prüfung zugestellt.",
  ],
  released: ["{count} released.", "{count} freigegeben."],
  discardAll: ["Discard all matching …", "Alle Treffer verwerfen …"],
  discardTitle: ["Discard rejected events", "Abgelehnte Ereignisse verwerfen"],
  willDiscard: [
    "{count} rejected {count|event|events} will not be delivered. Each can still be released on its page.",
    "{count} abgelehnte {count|Ereignis wird|Ereignisse werden} nicht zugestellt. Eine spätere Freigabe auf der Seite des Ereignisses bleibt möglich.",
  ],
  willDiscardAtLeast: [
    "At least {count} rejected events will not be delivered. Each can still be released on its page.",
    "Mindestens {count} abgelehnte Ereignisse werden nicht zugestellt. Eine spätere Freigabe auf der Seite des Ereignisses bleibt möglich.",
  ],
  discarded: ["{count} discarded.", "{count} verworfen."],
});

export function DecideRejected({ filters }: { readonly filters: Filters }) {
  const isAllowed = useHasScope("events:publish");
  if (!isAllowed) return null;
  const { tenant, type, subject, created_after, created_before } = filters;
  const filter = { tenant, type, subject, created_after, created_before };
  const shared = { nothing: t.nothing, later: t.later };
  const counting = (decide: typeof api.events.releaseRejected | typeof api.events.discardRejected) => {
    return async () => {
      const result = await decide({ body: { ...filter, dry_run: true } });
      if (!("count" in result)) throw new Error("The server decided instead of counting.");
      return { count: result.count, isExact: result.is_exact, before: result.rejected_before };
    };
  };
  return (
    <>
      <ByFilter
        {...shared}
        open={t.releaseAll}
        title={t.releaseTitle}
        action={t.release}
        countKey={["events to release", filter]}
        count={counting(api.events.releaseRejected)}
        describe={({ count, isExact }) => (isExact ? t.willRelease : t.willReleaseAtLeast)({ count })}
        done={t.released}
        change={async ({ before }, cursor) => {
          const body = { ...filter, rejected_before: before, ...cursor };
          const result = await api.events.releaseRejected({ body });
          if (!("released" in result)) throw new Error("The server counted instead of releasing.");
          return { count: result.released, next: result.next_cursor };
        }}
      />
      <ByFilter
        {...shared}
        open={t.discardAll}
        title={t.discardTitle}
        action={t.discard}
        countKey={["events to discard", filter]}
        count={counting(api.events.discardRejected)}
        isDangerous
        describe={({ count, isExact }) => (isExact ? t.willDiscard : t.willDiscardAtLeast)({ count })}
        done={t.discarded}
        change={async ({ before }, cursor) => {
          const body = { ...filter, rejected_before: before, ...cursor };
          const result = await api.events.discardRejected({ body });
          if (!("discarded" in result)) throw new Error("The server counted instead of discarding.");
          return { count: result.discarded, next: result.next_cursor };
        }}
      />
    </>
  );
}
