// A replay and its progress.
import type { Replay } from "@posthorn/client";
import { useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { isOpen, Outcomes, ReplayBadge, ReplayProgress } from "../../components/replay/replay-progress.tsx";
import { ActionButton } from "../../components/ui/action-button.tsx";
import { Fact, Facts, NotLoaded, Page, Panel, TimeFact } from "../../components/ui/page.tsx";
import { whole } from "../../format/number.ts";

const t = defineTexts({
  over: ["The replay is finished.", "Das Replay ist abgeschlossen."],
  queued: ["Queued again", "Erneut eingereiht"],
  outcome: ["Outcome", "Ergebnis"],
  skipped: ["Skipped", "Übersprungen"],
  none: ["none", "keine"],
  resubscribe: ["missed events", "verpasste Ereignisse"],
  rate: "Rate",
  perSecond: ["{rate} per second", "{rate} pro Sekunde"],
  by: ["Requested by", "Angefordert von"],
  admin: ["admin key", "Admin-Schlüssel"],
  scheduled: ["Scheduled for", "Geplant für"],
  ended: ["Ended", "Beendet"],
  cancelled: ["Cancelled because", "Abgebrochen, weil"],
  reasons: {
    requested: ["it was cancelled by a request", "der Abbruch angefordert wurde"],
    key_revoked: [
      "the key, token or link that scheduled it was revoked",
      "der Schlüssel, das Token oder der Link, womit es geplant wurde, widerrufen wurde",
    ],
    member_removed: [
      "the member who scheduled it was removed",
      "das Mitglied, das es geplant hat, entfernt wurde",
    ],
  },
});

const REFRESH_MS = 1_000;
const HAS_ENDED: readonly string[] = ["finished", "cancelled"] satisfies Replay["state"][];

export function ReplayPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useApi(
    "replays.get",
    { replay: id },
    { refetchInterval: ({ state }) => (state.data === undefined || isOpen(state.data) ? REFRESH_MS : false) },
  );
  if (query.isPending || query.error !== null) return <NotLoaded query={query} />;
  return <Detail replay={query.data} />;
}

function Detail({ replay }: { readonly replay: Replay }) {
  const skipped = Object.entries(replay.skipped);
  return (
    <Page
      title={replay.id}
      lead={<ReplayBadge state={replay.state} />}
      actions={
        <ActionButton
          kind="danger"
          icon="dead"
          disabledReason={HAS_ENDED.includes(replay.state) ? t.over : undefined}
          action={() => api.replays.cancel({ replay: replay.id })}
        >
          {t.cancel}
        </ActionButton>
      }
    >
      <Panel>
        <Facts>
          {(replay.state === "scheduled" || replay.state === "running") && (
            <Fact name={t.progress}>
              <ReplayProgress replay={replay} />
            </Fact>
          )}
          {replay.state !== "scheduled" && <Fact name={t.queued}>{whole(replay.done)}</Fact>}
          {replay.started_at !== null && (
            <Fact name={t.outcome}>
              <Outcomes replay={replay} />
            </Fact>
          )}
          <Fact name={t.skipped}>
            {skipped.length === 0 ? t.none : skipped.map(([why, count]) => `${count} ${why}`).join(", ")}
          </Fact>
          <Fact name={t.tenant}>{replay.tenant ?? t.all}</Fact>
          <Fact name={t.endpoint}>{replay.endpoint ?? t.all}</Fact>
          <Fact name={t.eventType}>{replay.type ?? t.all}</Fact>
          <Fact name={t.deliveries}>
            {replay.resubscribe ? t.resubscribe : (replay.states?.join(", ") ?? t.all)}
          </Fact>
          <Fact name={t.rate}>{t.perSecond({ rate: replay.rate })}</Fact>
          <Fact name={t.by}>{replay.requested_by ?? t.admin}</Fact>
          <TimeFact name={t.created} at={replay.created_at} />
          <TimeFact name={t.scheduled} at={replay.start_at} />
          <TimeFact name={t.started} at={replay.started_at} />
          <TimeFact name={t.ended} at={replay.ended_at} />
          {replay.cancel_reason !== null && <Fact name={t.cancelled}>{t.reasons[replay.cancel_reason]}</Fact>}
        </Facts>
      </Panel>
    </Page>
  );
}
