// The state of the installation: workers, backlog and retention.
import type { System } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { defineTexts, useLanguage, useTexts } from "../app/texts.ts";
import { Badge } from "../components/ui/badge.tsx";
import { Fact, Facts, Page, Panel } from "../components/ui/panel.tsx";
import { Failed, Loading } from "../components/ui/states.tsx";
import { Ago } from "../components/ui/time.tsx";
import { share, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";

const texts = defineTexts({
  en: {
    title: "System",
    version: "Version",
    schema: "Database schema",
    pending: (count: number) => `${count} pending migrations: run posthorn migrate`,
    withLatest: "up to date",
    workers: "Workers",
    noWorkers: "No worker is running. Start one: posthorn serve --role worker",
    worker: "Worker",
    state: "State",
    alive: "alive",
    gone: "dead",
    apiOnly: "API only",
    leads: "leader",
    busy: "Utilisation",
    started: "Started",
    seen: "Last seen",
    owed: "Backlog",
    count: "Unfinished deliveries",
    oldestDue: "Longest overdue",
    outbox: "Events waiting for fan-out",
    held: "On hold",
    heldBy: (circuit: string, throttle: string, limit: string) =>
      `${circuit} open circuit, ${throttle} throttled, ${limit} rate limited`,
    kept: "Retention",
    history: "Finished deliveries and their events",
    dead: "Dead letters",
    untilDeleted: "until deleted",
    idempotency: "Idempotency keys",
    audit: "Audit log",
    days: (count: number) => `${count} days`,
  },
  de: {
    title: "System",
    version: "Version",
    schema: "Datenbankschema",
    pending: (count: number) => `${count} ausstehende Migrationen: posthorn migrate ausführen`,
    withLatest: "aktuell",
    workers: "Worker",
    noWorkers: "Es läuft kein Worker. Starten Sie einen: posthorn serve --role worker",
    worker: "Worker",
    state: "Status",
    alive: "aktiv",
    gone: "ausgefallen",
    apiOnly: "nur API",
    leads: "Leader",
    busy: "Auslastung",
    started: "Gestartet",
    seen: "Zuletzt gesehen",
    owed: "Rückstand",
    count: "Nicht abgeschlossene Zustellungen",
    oldestDue: "Am längsten überfällig",
    outbox: "Ereignisse vor dem Fan-out",
    held: "Angehalten",
    heldBy: (circuit: string, throttle: string, limit: string) =>
      `${circuit} Circuit offen, ${throttle} gedrosselt, ${limit} Ratenlimit`,
    kept: "Aufbewahrung",
    history: "Abgeschlossene Zustellungen und ihre Ereignisse",
    dead: "Dead Letters",
    untilDeleted: "bis zum Löschen",
    idempotency: "Idempotenz-Schlüssel",
    audit: "Audit-Log",
    days: (count: number) => `${count} Tage`,
  },
});

const REFRESH_MS = 5_000;

export function SystemPage() {
  const t = useTexts(texts);
  const query = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => api.system.get({ signal }),
    refetchInterval: REFRESH_MS,
  });
  if (query.data === undefined) {
    if (query.error === null) return <Loading />;
    return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  }
  const system = query.data;
  return (
    <Page title={t.title}>
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
                {t.pending(system.schema.pending.length)}
              </Badge>
            )}
          </Fact>
        </Facts>
      </Panel>
      <Workers workers={system.workers.data} />
      <Backlog owed={system.owed} />
      <Retention retention={system.retention} />
    </Page>
  );
}

function Workers({ workers }: { readonly workers: System["workers"]["data"] }) {
  const t = useTexts(texts);
  const language = useLanguage();
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
                <td className="px-4 py-2 tabular-nums max-sm:hidden">{share(utilisation, language)}</td>
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

function Backlog({ owed }: { readonly owed: System["owed"] }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const number = (value: number) => whole(value, language);
  return (
    <Panel title={t.owed}>
      <Facts>
        <Fact name={t.count}>{number(owed.count)}</Fact>
        <Fact name={t.oldestDue}>{duration(owed.oldest_due_age_seconds * 1_000)}</Fact>
        <Fact name={t.outbox}>{number(owed.outbox)}</Fact>
        <Fact name={t.held}>
          {t.heldBy(number(owed.held.circuit), number(owed.held.throttle), number(owed.held.limit))}
        </Fact>
      </Facts>
    </Panel>
  );
}

function Retention({ retention }: { readonly retention: System["retention"] }) {
  const t = useTexts(texts);
  const { retention_days, dead_retention_days, idempotency_days, audit_days } = retention;
  return (
    <Panel title={t.kept}>
      <Facts>
        <Fact name={t.history}>{t.days(retention_days)}</Fact>
        <Fact name={t.dead}>
          {dead_retention_days === null ? t.untilDeleted : t.days(dead_retention_days)}
        </Fact>
        <Fact name={t.idempotency}>{t.days(idempotency_days)}</Fact>
        <Fact name={t.audit}>{t.days(audit_days)}</Fact>
      </Facts>
    </Panel>
  );
}
