// The rows that are chosen in a list. Other filters are another list: nothing is done with what can no longer be seen.
import { useState } from "react";
import { useFilters } from "../../app/filters.ts";
import type { Selection } from "../list/data-table.tsx";

export function useSelection<Row>(): Selection<Row> {
  const { filters } = useFilters();
  const of = JSON.stringify(filters);
  const [state, setState] = useState<{ readonly of: string; readonly chosen: ReadonlyMap<string, Row> }>();
  const chosenIn = (now: typeof state): ReadonlyMap<string, Row> => (now?.of === of ? now.chosen : new Map());
  return {
    chosen: chosenIn(state),
    change: (change) => setState((now) => ({ of, chosen: change(chosenIn(now)) })),
  };
}

/** What was done is not chosen any more; null: nothing was. */
export function unchoose<Row extends { readonly id: string }>(
  selection: Selection<Row>,
  done: readonly Row[] | null,
): void {
  if (done === null) return;
  const ids = new Set(done.map(({ id }) => id));
  selection.change((chosen) => new Map([...chosen].filter(([id]) => !ids.has(id))));
}
