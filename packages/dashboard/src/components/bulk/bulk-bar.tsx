// Actions for the selected rows, sticky at the bottom.
import type { ReactNode } from "react";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { MAX_SELECTED, type Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";

const texts = defineTexts({
  en: {
    label: "Selection",
    selected: (count: number) => `${count} selected`,
    most: "maximum; use a replay with a filter for more",
    none: "Clear selection",
  },
  de: {
    label: "Auswahl",
    selected: (count: number) => `${count} ausgewählt`,
    most: "Maximum; für mehr ein Replay mit Filter verwenden",
    none: "Auswahl aufheben",
  },
});

export function BulkBar<Row>({
  selection,
  children,
}: {
  readonly selection: Selection<Row>;
  readonly children: ReactNode;
}) {
  const t = useTexts(texts);
  const count = selection.selected.size;
  if (count === 0) return null;
  return (
    <section
      aria-label={t.label}
      className="sticky bottom-3 z-20 mx-auto flex max-w-full flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 shadow-lg"
    >
      <p role="status" className="font-medium tabular-nums">
        {t.selected(count)}
        {count === MAX_SELECTED && <span className="font-normal text-muted"> ({t.most})</span>}
      </p>
      {children}
      <Button kind="quiet" icon="close" onClick={() => selection.change(() => new Map())}>
        {t.none}
      </Button>
    </section>
  );
}
