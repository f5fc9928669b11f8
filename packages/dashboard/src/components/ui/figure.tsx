// A number with its name.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Tone } from "./badge.tsx";

const TONES: Record<Tone, string> = {
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  calm: "text-calm",
  plain: "text-ink",
};

export function Figure({
  name,
  value,
  note,
  tone = "plain",
  to,
  search,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: Tone;
  readonly to?: string;
  readonly search?: Readonly<Record<string, string>>;
}) {
  const content = (
    <>
      <span className="text-xs text-muted">{name}</span>
      <span className={`text-2xl font-semibold tabular-nums ${TONES[tone]}`}>{value}</span>
      {note !== undefined && <span className="text-xs text-muted">{note}</span>}
    </>
  );
  const look = "flex flex-col gap-0.5 rounded-lg border border-line bg-surface p-3";
  if (to === undefined) return <div className={look}>{content}</div>;
  return (
    <Link to={to} search={(search ?? {}) as never} className={`${look} hover:bg-raised`}>
      {content}
    </Link>
  );
}
