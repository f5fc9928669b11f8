// One banner per problem: what happened, what happens next, and what to do.
import type { ReactNode } from "react";
import type { Tone } from "./badge.tsx";
import { Icon, type IconName } from "./icons.tsx";

const TONES: Record<Tone, readonly [box: string, title: string, icon: IconName]> = {
  ok: ["border-ok/30 bg-ok-ground", "text-ok", "check"],
  calm: ["border-calm/30 bg-calm-ground", "text-calm", "clock"],
  warn: ["border-warn/30 bg-warn-ground", "text-warn", "warning"],
  bad: ["border-bad/30 bg-bad-ground", "text-bad", "warning"],
  plain: ["border-line bg-raised", "text-ink", "info"],
};

export function Banner({
  tone,
  happened,
  next,
  remedy,
  actions,
}: {
  readonly tone: Tone;
  /** What happened: "The receiver returned HTTP 500 twice." */
  readonly happened: ReactNode;
  /** What happens next and when, and how many others are affected. */
  readonly next?: ReactNode;
  /** What the reader can do. */
  readonly remedy?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const [box, title, icon] = TONES[tone];
  return (
    <div role="note" className={`flex gap-3 rounded-lg border px-4 py-3 ${box}`}>
      <Icon name={icon} className={`mt-0.5 ${title}`} />
      <div className="flex min-w-0 flex-col gap-1">
        <p className={`font-semibold break-words ${title}`}>{happened}</p>
        {next !== undefined && <div className="break-words">{next}</div>}
        {remedy !== undefined && <div className="break-words">{remedy}</div>}
        {actions !== undefined && <div className="flex flex-wrap gap-2 pt-2">{actions}</div>}
      </div>
    </div>
  );
}
