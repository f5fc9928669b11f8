// The phases of an attempt as a waterfall chart.
import type { Attempt } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { duration } from "../../format/time.ts";

const t = defineTexts({
  label: ["Phases", "Phasen"],
  queue_ms: ["Queued", "In der Warteschlange"],
  connect_ms: ["Connect", "Verbinden"],
  tls_ms: "TLS",
  first_byte_ms: ["First byte", "Erstes Byte"],
  body_ms: "Body",
  reused: ["reused", "wiederverwendet"],
});

const PHASES = ["queue_ms", "connect_ms", "tls_ms", "first_byte_ms", "body_ms"] as const;

export function Waterfall({ phases }: { readonly phases: Attempt["phases"] }) {
  const total = PHASES.reduce((sum, phase) => sum + (phases[phase] ?? 0), 0);
  // TLS does not show it: plain http never has a TLS phase
  const isReused = phases.connect_ms === null && phases.first_byte_ms !== null;
  let before = 0;
  return (
    <table aria-label={t.label} className="w-full text-xs">
      <tbody>
        {PHASES.map((phase) => {
          const ms = phases[phase];
          const left = total === 0 ? 0 : (before / total) * 100;
          const width = total === 0 ? 0 : ((ms ?? 0) / total) * 100;
          before += ms ?? 0;
          return (
            <tr key={phase}>
              <th scope="row" className="w-36 py-0.5 pr-3 text-left font-normal text-muted">
                {t[phase]}
              </th>
              <td className="py-0.5">
                <div className="h-2.5 rounded bg-raised">
                  {ms !== null && (
                    <div
                      className="h-full min-w-px rounded bg-accent-ink"
                      style={{ marginLeft: `${left}%`, width: `${width}%` }}
                    />
                  )}
                </div>
              </td>
              <td className="w-24 py-0.5 pl-3 text-right tabular-nums">
                {ms === null ? (phase === "connect_ms" && isReused ? t.reused : "–") : duration(ms)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
