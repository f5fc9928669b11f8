// Bars of the last 24 hours: failed attempts stacked on delivered ones.
import { defineTexts } from "../../app/texts.ts";

const t = defineTexts({
  label: [
    "Last 24 hours: {success} delivered, {failed} failed attempts",
    "Letzte 24 Stunden: {success} zugestellt, {failed} fehlgeschlagene Versuche",
  ],
  nothing: ["No attempts in the last 24 hours", "Keine Versuche in den letzten 24 Stunden"],
});

interface Hour {
  readonly at: string;
  readonly success: number;
  readonly failed: number;
}

const WIDTH = 96;
const HEIGHT = 20;

export function Sparkline({ points }: { readonly points: readonly Hour[] | null }) {
  if (points === null || points.length === 0)
    return (
      <span className="text-xs text-muted" title={t.nothing}>
        –
      </span>
    );
  const most = Math.max(1, ...points.map(({ success, failed }) => success + failed));
  const step = WIDTH / points.length;
  const total = (pick: (hour: Hour) => number) => points.reduce((sum, hour) => sum + pick(hour), 0);
  return (
    <svg
      role="img"
      aria-label={t.label({
        success: total(({ success }) => success),
        failed: total(({ failed }) => failed),
      })}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="h-5 w-24"
    >
      {points.map(({ at, success, failed }, index) => {
        const good = (success / most) * HEIGHT;
        const bad = (failed / most) * HEIGHT;
        return (
          <g key={at}>
            <rect
              x={index * step}
              y={HEIGHT - good}
              width={step - 1}
              height={good}
              className="fill-ok-chart"
            />
            <rect
              x={index * step}
              y={HEIGHT - good - bad}
              width={step - 1}
              height={bad}
              className="fill-bad-chart"
            />
          </g>
        );
      })}
    </svg>
  );
}
