// The selected rows of a list, and the bar with their actions, sticky at the bottom.
import { type ReactNode, useState } from "react";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { MAX_SELECTED, type Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";

const t = defineTexts({
  label: ["Selection", "Auswahl"],
  selected: ["{count} selected", "{count} ausgewählt"],
  most: ["maximum; use a replay with a filter for more", "Maximum; für mehr ein Replay mit Filter verwenden"],
  none: ["Clear selection", "Auswahl aufheben"],
});

export function BulkBar<Row>({
  selection,
  children,
}: {
  readonly selection: Selection<Row>;
  readonly children: ReactNode;
}) {
  const count = selection.selected.size;
  if (count === 0) return null;
  return (
    <section
      aria-label={t.label}
      className="sticky bottom-3 z-20 mx-auto flex max-w-full flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 shadow-lg"
    >
      <p role="status" className="font-medium tabular-nums">
        {t.selected({ count })}
        {count === MAX_SELECTED && <span className="font-normal text-muted"> ({t.most})</span>}
      </p>
      {children}
      <Button kind="quiet" icon="close" onClick={() => selection.change(() => new Map())}>
        {t.none}
      </Button>
    </section>
  );
}

/** Changing the filters clears the selection. */
export function useSelection<Row>(): Selection<Row> {
  const { filters } = useFilters();
  const filterKey = JSON.stringify(filters);
  const [state, setState] = useState<{
    readonly filterKey: string;
    readonly selected: ReadonlyMap<string, Row>;
  }>();
  const selectedFor = (now: typeof state): ReadonlyMap<string, Row> =>
    now?.filterKey === filterKey ? now.selected : new Map();
  return {
    selected: selectedFor(state),
    change: (change) => setState((now) => ({ filterKey, selected: change(selectedFor(now)) })),
  };
}

/** The action whose dialog is open. Rows that succeeded are removed from the selection. */
export function useBulkAction<Action, Row extends { readonly id: string }>(selection: Selection<Row>) {
  const [action, setAction] = useState<Action | null>(null);
  const close = (done: readonly Row[] | null) => {
    setAction(null);
    if (done === null) return;
    const ids = new Set(done.map(({ id }) => id));
    selection.change((selected) => new Map([...selected].filter(([id]) => !ids.has(id))));
  };
  return { action, setAction, close, rows: [...selection.selected.values()] };
}
