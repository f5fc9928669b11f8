// The differences between an event's data and the previous event of its subject.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { differences } from "../../format/differences.ts";
import { Badge } from "./badge.tsx";
import { Failed, Loading } from "./states.tsx";

const texts = defineTexts({
  en: {
    same: "No differences.",
    added: "added",
    removed: "removed",
    changed: "changed",
    more: "Only the first 200 differences are shown.",
  },
  de: {
    same: "Keine Unterschiede.",
    added: "hinzugefügt",
    removed: "entfernt",
    changed: "geändert",
    more: "Nur die ersten 200 Unterschiede werden angezeigt.",
  },
});

const MAX_SHOWN = 200;

export function Diff({ previous, data }: { readonly previous: string; readonly data: unknown }) {
  const t = useTexts(texts);
  const query = useQuery({
    queryKey: ["event", previous],
    queryFn: ({ signal }) => api.events.get({ event: previous, signal }),
  });
  if (query.isPending) return <Loading />;
  if (query.error !== null) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  const found = differences(query.data.data, data, MAX_SHOWN + 1);
  if (found.length === 0) return <p className="text-muted">{t.same}</p>;
  return (
    <>
      <ul className="flex flex-col gap-1 font-mono text-xs">
        {found.slice(0, MAX_SHOWN).map(({ pointer, kind, before, after }) => (
          <li key={pointer} className="flex flex-wrap items-baseline gap-2 break-all">
            <Badge tone={kind === "added" ? "ok" : kind === "removed" ? "bad" : "warn"}>{t[kind]}</Badge>
            <span>{pointer === "" ? "/" : pointer}</span>
            {kind !== "added" && <del className="text-bad">{JSON.stringify(before)}</del>}
            {kind !== "removed" && <ins className="text-ok">{JSON.stringify(after)}</ins>}
          </li>
        ))}
      </ul>
      {found.length > MAX_SHOWN && <p className="pt-2 text-muted">{t.more}</p>}
    </>
  );
}
