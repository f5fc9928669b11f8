// A state as a short label. Colour is never the only signal: every tone has a label or icon.
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

export type Tone = "ok" | "warn" | "bad" | "calm" | "plain";

const TONES: Record<Tone, string> = {
  ok: "bg-ok-ground text-ok",
  warn: "bg-warn-ground text-warn",
  bad: "bg-bad-ground text-bad",
  calm: "bg-calm-ground text-calm",
  plain: "bg-raised text-muted",
};

export interface BadgeProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly title?: string | undefined;
  readonly children?: ReactNode;
}

export function Badge({ tone, icon, title, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={`inline-flex items-center gap-1 rounded-full px-2 align-top py-0.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {icon && <Icon name={icon} className="size-3" />}
      {children}
    </span>
  );
}
