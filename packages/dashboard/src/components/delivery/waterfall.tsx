// The phases of an attempt. The network phases share a scale; waiting, which takes far longer, is not part of it.
import type { Attempt } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { type AttemptWaits, attemptWaits } from "../../format/attempt-waits.ts";
import type { PhaseName } from "../../format/compare-attempts.ts";
import { duration } from "../../format/time.ts";

const t = defineTexts({
  label: ["Phases", "Phasen"],
  waiting: ["Waiting", "Warten"],
  network: ["Network", "Netzwerk"],
  retryMs: ["For the retry", "Auf den erneuten Versuch"],
  turnMs: ["For its turn", "Bis es an der Reihe war"],
  connect_ms: ["DNS and connect", "DNS und Verbinden"],
  tls_ms: "TLS",
  first_byte_ms: ["First byte", "Erstes Byte"],
  body_ms: "Body",
  total: ["Total", "Gesamt"],
  reused: ["reused", "wiederverwendet"],
});

const NETWORK_PHASES = ["connect_ms", "tls_ms", "first_byte_ms", "body_ms"] as const;

export function phaseName(phase: PhaseName): string {
  return t[phase];
}

const HEAD = "pt-2 pb-0.5 text-left text-xs font-medium";
const NAME = "w-28 py-0.5 pr-3 sm:w-44 text-left font-normal text-muted";
const VALUE = "w-16 py-0.5 sm:w-24 pl-3 text-right tabular-nums";

export function Waterfall({
  attempt,
  previous,
}: {
  readonly attempt: Attempt;
  readonly previous: Attempt | undefined;
}) {
  const { phases, duration_ms: durationMs } = attempt;
  const waits = Object.entries(attemptWaits(attempt, previous)) as [keyof AttemptWaits, number | null][];
  const total = NETWORK_PHASES.reduce((sum, phase) => sum + (phases[phase] ?? 0), 0);
  // TLS does not show it: plain http never has a TLS phase
  const isReused = phases.connect_ms === null && phases.first_byte_ms !== null;
  let before = 0;
  return (
    <table aria-label={t.label} className="w-full text-xs">
      {waits.some(([, ms]) => ms !== null) && (
        <tbody>
          <tr>
            <th scope="rowgroup" colSpan={3} className={HEAD}>
              {t.waiting}
            </th>
          </tr>
          {waits.map(
            ([name, ms]) =>
              ms !== null && (
                <tr key={name}>
                  <th scope="row" colSpan={2} className={NAME}>
                    {t[name]}
                  </th>
                  <td className={VALUE}>{duration(ms)}</td>
                </tr>
              ),
          )}
        </tbody>
      )}
      <tbody>
        <tr>
          <th scope="rowgroup" colSpan={2} className={HEAD}>
            {t.network}
          </th>
          {durationMs !== null && (
            <td className={`${VALUE} pt-2 align-bottom`} title={t.total}>
              {duration(durationMs)}
            </td>
          )}
        </tr>
        {NETWORK_PHASES.map((phase) => {
          const ms = phases[phase];
          const left = total === 0 ? 0 : (before / total) * 100;
          const width = total === 0 ? 0 : ((ms ?? 0) / total) * 100;
          before += ms ?? 0;
          return (
            <tr key={phase}>
              <th scope="row" className={NAME}>
                {t[phase]}
              </th>
              <td className="py-0.5">
                <div className="h-2 rounded bg-raised">
                  {ms !== null && (
                    <div
                      className="h-full min-w-px rounded bg-calm"
                      style={{ marginLeft: `${left}%`, width: `${width}%` }}
                    />
                  )}
                </div>
              </td>
              <td className={VALUE}>
                {ms === null ? (phase === "connect_ms" && isReused ? t.reused : "–") : duration(ms)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
