// A replay and its progress.
import type { Replay } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { ReplayBadge, ReplayProgress } from "../../components/replay/replay-progress.tsx";
import { Button } from "../../components/ui/button.tsx";
import { Fact, Facts, Page, Panel } from "../../components/ui/panel.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";

const texts = defineTexts({
  en: {
    cancel: "Cancel",
    over: "The replay is finished.",
    progress: "Progress",
    skipped: "Skipped",
    none: "none",
    tenant: "Tenant",
    endpoint: "Endpoint",
    type: "Event type",
    states: "Deliveries",
    resubscribe: "missed events",
    rate: "Rate",
    perSecond: (rate: number) => `${rate} per second`,
    by: "Requested by",
    admin: "admin key",
    started: "Started",
    ended: "Ended",
    all: "all",
  },
  de: {
    cancel: "Abbrechen",
    over: "Das Replay ist abgeschlossen.",
    progress: "Fortschritt",
    skipped: "Übersprungen",
    none: "keine",
    tenant: "Mandant",
    endpoint: "Endpunkt",
    type: "Ereignistyp",
    states: "Zustellungen",
    resubscribe: "verpasste Ereignisse",
    rate: "Rate",
    perSecond: (rate: number) => `${rate} pro Sekunde`,
    by: "Angefordert von",
    admin: "Admin-Schlüssel",
    started: "Gestartet",
    ended: "Beendet",
    all: "alle",
  },
});

const REFRESH_MS = 1_000;

export function ReplayPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ["replay", id],
    queryFn: ({ signal }) => api.replays.get({ replay: id, signal }),
    refetchInterval: ({ state }) => (state.data?.state === "running" ? REFRESH_MS : false),
  });
  if (query.isPending) return <Loading />;
  if (query.error !== null) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  return <Detail replay={query.data} />;
}

function Detail({ replay }: { readonly replay: Replay }) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const { isBusy, submit } = useSubmission();
  const cancel = async () => {
    await submit(() => api.replays.cancel({ replay: replay.id }));
    await queries.invalidateQueries();
  };
  const skipped = Object.entries(replay.skipped);
  return (
    <Page
      title={<span className="font-mono text-base">{replay.id}</span>}
      lead={<ReplayBadge state={replay.state} />}
      actions={
        <Button
          kind="danger"
          icon="dead"
          isBusy={isBusy}
          disabledReason={replay.state === "running" ? undefined : t.over}
          onClick={() => void cancel()}
        >
          {t.cancel}
        </Button>
      }
    >
      <Panel>
        <Facts>
          <Fact name={t.progress}>
            <ReplayProgress replay={replay} />
          </Fact>
          <Fact name={t.skipped}>
            {skipped.length === 0 ? t.none : skipped.map(([why, count]) => `${count} ${why}`).join(", ")}
          </Fact>
          <Fact name={t.tenant}>{replay.tenant ?? t.all}</Fact>
          <Fact name={t.endpoint}>{replay.endpoint ?? t.all}</Fact>
          <Fact name={t.type}>{replay.type ?? t.all}</Fact>
          <Fact name={t.states}>
            {replay.resubscribe ? t.resubscribe : (replay.states?.join(", ") ?? t.all)}
          </Fact>
          <Fact name={t.rate}>{t.perSecond(replay.rate)}</Fact>
          <Fact name={t.by}>{replay.requested_by ?? t.admin}</Fact>
          <Fact name={t.started}>
            <Ago at={replay.created_at} />
          </Fact>
          {replay.ended_at !== null && (
            <Fact name={t.ended}>
              <Ago at={replay.ended_at} />
            </Fact>
          )}
        </Facts>
      </Panel>
    </Page>
  );
}
