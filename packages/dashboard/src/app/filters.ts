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
