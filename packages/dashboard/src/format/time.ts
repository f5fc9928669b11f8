// Formats times and durations: "4m 12s", "3 minutes ago", and exact times in UTC.
import { currentLanguage, type Language } from "../app/texts.ts";

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

export function relativeTime(at: Date, now: number): string {
  const seconds = (at.getTime() - now) / 1_000;
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? (["second", 1] as const);
  return relative[currentLanguage()].format(Math.trunc(seconds / size), unit);
}

/** Cached: creating a formatter takes longer than rendering a row. */
const relative: Readonly<Record<Language, Intl.RelativeTimeFormat>> = {
  en: new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" }),
  de: new Intl.RelativeTimeFormat("de", { numeric: "auto", style: "short" }),
};

export function exactUtc(at: Date): string {
  return at.toISOString().replace("T", " ").replace("Z", " UTC");
}

/** 24-hour clock in both languages. */
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

/** The local time, with the date unless it is today. */
export function clockTime(at: Date): string {
  const isToday = at.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(currentLanguage(), {
    ...(isToday ? {} : { day: "2-digit", month: "short" }),
    ...CLOCK,
  }).format(at);
}

const DAY_MS = 86_400_000;

/** A chart label: the time of day, or the date if the chart spans days. */
export function axisTime(at: Date, spanMs: number): string {
  const format: Intl.DateTimeFormatOptions = spanMs > 2 * DAY_MS ? { day: "2-digit", month: "short" } : CLOCK;
  return new Intl.DateTimeFormat(currentLanguage(), format).format(at);
}

/** The two largest units: `4m 12s`, `2d 3h`, `250 ms`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) {
    const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
    return `${new Intl.NumberFormat(currentLanguage(), digits).format(ms / 1_000)} s`;
  }
  const units: readonly [string, number][] = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ];
  const first = units.findIndex(([, size]) => ms >= size);
  let rest = ms;
  return units
    .slice(first, first + 2)
    .flatMap(([name, size]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return count > 0 ? [`${count}${name}`] : [];
    })
    .join(" ");
}

/** Formats for a datetime-local field; empty for an invalid time. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
