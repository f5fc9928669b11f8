// The state of the installation: workers, backlog and retention.
import type { System } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { defineTexts } from "../app/texts.ts";
import { BacklogParts } from "../components/backlog/backlog-parts.tsx";
import { DeliveryModePanel } from "../components/delivery-mode/delivery-mode.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { Fact, Facts, NotLoaded, Page, Panel } from "../components/ui/page.tsx";
import { Ago } from "../components/ui/time.tsx";
import { share, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";

const t = defineTexts({
  schema: ["Database schema", "Datenbankschema"],
  pending: [
    "{count} pending {count|migration|migrations}: run posthorn migrate",
    "{count} ausstehende {count|Migration|Migrationen}: posthorn migrate ausführen",
  ],
  withLatest: ["up to date", "aktuell"],
  workers: ["Workers", "Worker"],
  noWorkers: [
    "No worker is running. Start one: posthorn serve --role worker",
    "Es läuft kein Worker. Starten Sie einen: posthorn serve --role worker",
  ],
  worker: "Worker",
  alive: ["alive", "aktiv"],
  gone: ["dead", "ausgefallen"],
  apiOnly: ["API only", "nur API"],
  leads: ["leader", "Leader"],
  busy: ["Utilisation", "Auslastung"],
  seen: ["Last seen", "Zuletzt gesehen"],
  count: ["Unfinished deliveries", "Nicht abgeschlossene Zustellungen"],
  oldestDue: ["Longest overdue", "Am längsten überfällig"],
  outbox: ["Events waiting for fan-out", "Ereignisse, die auf den Fan-out warten"],
  rejected: ["Rejected events that wait for a decision", "Abgelehnte Ereignisse ohne Entscheidung"],
  kept: ["Retention", "Aufbewahrung"],
  history: ["Finished deliveries and their events", "Abgeschlossene Zustellungen und ihre Ereignisse"],
  untilDeleted: ["until deleted", "bis zum Löschen"],
  idempotency: ["Idempotency keys", "Idempotenz-Schlüssel"],
  days: ["{count} {count|day|days}", "{count} {count|Tag|Tage}"],
});

const REFRESH_MS = 5_000;

export function SystemPage() {
  const query = useApi("system.get", {}, { refetchInterval: REFRESH_MS });
  if (query.data === undefined) return <NotLoaded query={query} />;
  const system = query.data;
  return (
    <Page title={t.system}>
      <Panel>
        <Facts>
          <Fact name={t.version}>{system.version}</Fact>
          <Fact name={t.schema}>
            {system.schema.version}{" "}
            {system.schema.pending.length === 0 ? (
              <Badge tone="ok" icon="check">
                {t.withLatest}
              </Badge>
            ) : (
              <Badge tone="warn" icon="warning">
                {t.pending({ count: system.schema.pending.length })}
              </Badge>
            )}
          </Fact>
        </Facts>
      </Panel>
      <DeliveryModePanel />
      <Workers workers={system.workers.data} />
      <Backlog backlog={system.backlog} />
      <Retention retention={system.retention} />
    </Page>
  );
}

function Workers({ workers }: { readonly workers: System["workers"]["data"] }) {
  const isAnyDelivering = workers.some(({ is_alive, delivers }) => is_alive && delivers);
  return (
    <Panel title={t.workers} isFlush>
      {!isAnyDelivering && <p className="p-4 text-bad">{t.noWorkers}</p>}
      <section
        aria-label={t.workers}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="overflow-x-auto"
      >
        <table className="w-full text-left">
          <thead className="text-xs text-muted">
            <tr>
              {[t.worker, t.state, t.seen, t.busy, t.started].map((head, index) => (
                <th
                  key={head}
                  scope="col"
                  className={`px-4 py-2 font-medium ${index < 3 ? "" : "max-sm:hidden"}`}
                >
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {workers.map(({ id, name, is_alive, delivers, leads, utilisation, started_at, last_seen_at }) => (
              <tr key={id} className="border-t border-line">
                <td className="px-4 py-2 font-mono text-xs">
                  {id} · {name}
                </td>
                <td className="px-4 py-2">
                  <span className="flex gap-1 max-sm:flex-col max-sm:items-start">
                    <Badge tone={is_alive ? "ok" : "bad"} icon={is_alive ? "check" : "warning"}>
                      {is_alive ? t.alive : t.gone}
                    </Badge>
                    {!delivers && <Badge tone="plain">{t.apiOnly}</Badge>}
                    {leads && <Badge tone="calm">{t.leads}</Badge>}
                  </span>
                </td>
                <td className="px-4 py-2">
                  <Ago at={last_seen_at} />
                </td>
                <td className="px-4 py-2 tabular-nums max-sm:hidden">{share(utilisation)}</td>
                <td className="px-4 py-2 max-sm:hidden">
                  <Ago at={started_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}

function Backlog({ backlog }: { readonly backlog: System["backlog"] }) {
  return (
    <Panel title={t.backlog}>
      <Facts>
        <Fact name={t.count}>{whole(backlog.count)}</Fact>
        <Fact name={t.oldestDue}>{duration(backlog.oldest_due_age_seconds * 1_000)}</Fact>
        <Fact name={t.outbox}>{whole(backlog.outbox)}</Fact>
        <Fact name={t.rejected}>
          <Link to="/events" search={{ event_state: "rejected" }} className="underline">
            {whole(backlog.rejected)}
          </Link>
        </Fact>
      </Facts>
      <div className="pt-4">
        <BacklogParts backlog={backlog} />
      </div>
    </Panel>
  );
}

function Retention({ retention }: { readonly retention: System["retention"] }) {
  const { retention_days, dead_retention_days, idempotency_days, audit_days } = retention;
  return (
    <Panel title={t.kept}>
      <Facts>
        <Fact name={t.history}>{t.days({ count: retention_days })}</Fact>
        <Fact name={t.deadLetters}>
          {dead_retention_days === null ? t.untilDeleted : t.days({ count: dead_retention_days })}
        </Fact>
        <Fact name={t.idempotency}>{t.days({ count: idempotency_days })}</Fact>
        <Fact name={t.auditLog}>{t.days({ count: audit_days })}</Fact>
      </Facts>
    </Panel>
  );
}
