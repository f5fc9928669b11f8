// A button that deletes all dead letters that match the filters, after it has counted them.
import { api } from "../../api/client.ts";
import { useHasScope } from "../../api/session.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { ByFilter } from "./by-filter.tsx";

const t = defineTexts({
  open: ["Delete all matching …", "Alle Treffer löschen …"],
  title: ["Delete dead letters", "Dead Letters löschen"],
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
});

export function DeleteDead({ filters }: { readonly filters: Filters }) {
  const isAllowed = useHasScope("deliveries:retry");
  if (!isAllowed) return null;
  const { tenant, endpoint, type, reason, created_after, created_before } = filters;
  const filter = { tenant, endpoint, type, reason, created_after, created_before };
  return (
    <ByFilter
      open={t.open}
      title={t.title}
      action={t.delete}
      isDangerous
      nothing={t.nothing}
      describe={({ count, isExact }) => (isExact ? t.will : t.willAtLeast)({ count })}
      later={t.later}
      done={t.deleted}
      countKey={["dead letters", filter]}
      count={async () => {
        const result = await api.deliveries.deleteDead({ body: { ...filter, dry_run: true } });
        if (!("count" in result)) throw new Error("The server deleted instead of counting.");
        return { count: result.count, isExact: result.is_exact, before: result.dead_before };
      }}
      change={async ({ before }, cursor) => {
        const result = await api.deliveries.deleteDead({
          body: { ...filter, dead_before: before, ...cursor },
        });
        if (!("deleted" in result)) throw new Error("The server counted instead of deleting.");
        return { count: result.deleted, next: result.next_cursor };
      }}
    />
  );
}
