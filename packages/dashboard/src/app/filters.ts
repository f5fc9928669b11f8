// Filters are part of the URL, so links and the back button keep them.
import { useNavigate, useSearch } from "@tanstack/react-router";

export type Filters = Readonly<Record<string, string | undefined>>;

/** Returns a search validator that keeps only these names. */
export function readFilters<const Name extends string>(names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): { [Key in Name]?: string } => {
    const found: { [Key in Name]?: string } = {};
    for (const name of names) {
      const value = search[name];
      if (value !== undefined && value !== null && value !== "") found[name] = String(value);
    }
    return found;
  };
}

/** Presets of the filter `since`, in milliseconds. */
export const SINCE = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
} as const;
export type Since = keyof typeof SINCE;

/** The filters of the URL with the time that `since` means now. */
export function useQueryFilters(): Filters {
  const { since, ...filters } = useFilters().filters;
  const spanMs = SINCE[since as Since] as number | undefined;
  return spanMs === undefined ? filters : { ...filters, created_after: beginOf(spanMs) };
}

const KEPT_MS = 300_000;
const begins = new Map<number, { readonly at: number; readonly iso: string }>();

/** The same time for some minutes, so that a list stays the same while it is read and left. */
function beginOf(spanMs: number): string {
  const known = begins.get(spanMs);
  const now = Date.now();
  if (known !== undefined && now - known.at < KEPT_MS) return known.iso;
  const iso = new Date(now - spanMs).toISOString();
  begins.set(spanMs, { at: now, iso });
  return iso;
}

export function useFilters() {
  const filters = useSearch({ strict: false }) as Filters;
  const navigate = useNavigate();
  const go = (next: Filters) => void navigate({ to: ".", search: next as never, replace: true });
  return {
    filters,
    set: (change: Filters) => {
      const next = Object.entries({ ...filters, ...change }).filter(
        ([, value]) => value !== undefined && value !== "",
      );
      go(Object.fromEntries(next));
    },
    /** Undefined when no filter is set. */
    clear: Object.keys(filters).length > 0 ? () => go({}) : undefined,
  };
}
