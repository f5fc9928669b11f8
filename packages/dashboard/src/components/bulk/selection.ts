// The rows that are chosen in a list. Other filters are another list: nothing is done with what can no longer be seen.
import { useState } from "react";
import { useFilters } from "../../app/filters.ts";
import type { Selection } from "../data-table.tsx";

export function useSelection<Row>(): Selection<Row> {
  const { filters } = useFilters();
  const of = JSON.stringify(filters);
  const [state, setState] = useState<{ readonly of: string; readonly chosen: ReadonlyMap<string, Row> }>();
  return {
    chosen: state?.of === of ? state.chosen : new Map(),
    onChange: (chosen) => setState({ of, chosen }),
  };
}

/** What was done is not chosen any more; null: nothing was. */
export function unchoose<Row extends { readonly id: string }>(
  { chosen, onChange }: Selection<Row>,
  done: readonly Row[] | null,
): void {
  if (done === null) return;
  const rest = new Map(chosen);
  for (const { id } of done) rest.delete(id);
  onChange(rest);
}
