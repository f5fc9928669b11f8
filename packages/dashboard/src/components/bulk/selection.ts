// The selected rows of a list. Changing the filters clears the selection.
import { useState } from "react";
import { useFilters } from "../../app/filters.ts";
import type { Selection } from "../list/data-table.tsx";

export function useSelection<Row>(): Selection<Row> {
  const { filters } = useFilters();
  const of = JSON.stringify(filters);
  const [state, setState] = useState<{ readonly of: string; readonly selected: ReadonlyMap<string, Row> }>();
  const chosenIn = (now: typeof state): ReadonlyMap<string, Row> =>
    now?.of === of ? now.selected : new Map();
  return {
    selected: chosenIn(state),
    change: (change) => setState((now) => ({ of, selected: change(chosenIn(now)) })),
  };
}

/** Removes rows from the selection; null removes none. */
export function deselect<Row extends { readonly id: string }>(
  selection: Selection<Row>,
  done: readonly Row[] | null,
): void {
  if (done === null) return;
  const ids = new Set(done.map(({ id }) => id));
  selection.change((selected) => new Map([...selected].filter(([id]) => !ids.has(id))));
}
