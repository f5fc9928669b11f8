// What can be done with the rows that are chosen; stays in sight however far down the reader is.
import type { ReactNode } from "react";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { MOST_CHOSEN, type Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";

const texts = defineTexts({
  en: {
    label: "What is chosen",
    chosen: (count: number) => `${count} chosen`,
    most: "the most at a time; more by a filter",
    none: "Choose none",
  },
  de: {
    label: "Auswahl",
    chosen: (count: number) => `${count} gewählt`,
    most: "mehr geht auf einmal nur mit einem Filter",
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
  const count = selection.chosen.size;
  if (count === 0) return null;
  return (
    <section
      aria-label={t.label}
      className="sticky bottom-3 z-20 mx-auto flex max-w-full flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 shadow-lg"
    >
      <p role="status" className="font-medium tabular-nums">
        {t.chosen(count)}
        {count === MOST_CHOSEN && <span className="font-normal text-muted"> ({t.most})</span>}
      </p>
      {children}
      <Button kind="quiet" icon="close" onClick={() => selection.change(() => new Map())}>
        {t.none}
      </Button>
    </section>
  );
}
