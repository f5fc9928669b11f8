// A list with its empty states and the button that announces new rows.
import { type ReactNode, useRef } from "react";
import type { List } from "../../api/list.ts";
import { MAX_NEW_ROWS } from "../../api/list-updates.ts";
import type { NewRows } from "../../api/new-rows.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Failed, FilteredOut, Loading } from "../ui/states.tsx";
import { DataTable, type DataTableProps } from "./data-table.tsx";

export interface ListViewProps<Row>
  extends Omit<
    DataTableProps<Row>,
    "rows" | "onVisibleRows" | "isLoadingMore" | "position" | "onPositionChange"
  > {
  readonly list: List<Row>;
  /** Clears the filters; undefined if none is set. */
  readonly onClearFilters?: (() => void) | undefined;
  /** Shown in addition when the filters match nothing. */
  readonly filteredOut?: ReactNode;
  /** Shown when the list is empty. */
  readonly nothingYet: ReactNode;
}

export function ListView<Row>({
  list,
  onClearFilters,
  filteredOut,
  nothingYet,
  ...table
}: ListViewProps<Row>) {
  if (list.isLoading) return <Loading />;
  if (list.error !== null && list.rows.length === 0)
    return <Failed error={list.error} onRetry={list.reload} />;
  if (list.rows.length === 0) {
    if (onClearFilters === undefined) return nothingYet;
    return (
      <>
        <FilteredOut onClear={onClearFilters} />
        {filteredOut}
      </>
    );
  }
  return (
    <>
      <NewRowsButton newRows={list.newRows} onShow={list.showNewRows} />
      <DataTable
        {...table}
        rows={list.rows}
        onVisibleRows={list.onVisibleRows}
        isLoadingMore={list.isLoadingMore}
        position={list.position}
        onPositionChange={list.savePosition}
      />
      {list.error !== null && <Failed error={list.error} onRetry={list.reload} />}
    </>
  );
}

const texts = defineTexts({
  en: {
    fresh: (count: number) => `${whole(count, "en")} new`,
    many: (count: number) => `More than ${whole(count, "en")} new`,
    changed: "New activity",
    show: "show",
  },
  de: {
    fresh: (count: number) => `${whole(count, "de")} neu`,
    many: (count: number) => `Mehr als ${whole(count, "de")} neu`,
    changed: "Neue Aktivität",
    show: "anzeigen",
  },
});

/** Has no height, so that rows do not move when it appears. */
function NewRowsButton({ newRows, onShow }: { readonly newRows: NewRows; readonly onShow: () => void }) {
  const t = useTexts(texts);
  const position = useRef<HTMLDivElement>(null);
  return (
    <div
      ref={position}
      tabIndex={-1}
      aria-live="polite"
      className="pointer-events-none sticky top-6 z-10 flex h-0 justify-center focus:outline-none"
    >
      {(newRows.count > 0 || newRows.isMore) && (
        <Button
          kind="primary"
          icon="up"
          className="pointer-events-auto h-fit -translate-y-3/5 !rounded-full !py-1 !text-xs shadow-md"
          onClick={() => {
            // the button disappears: keep the focus here for keyboard users
            position.current?.focus();
            window.scrollTo({ top: 0 });
            onShow();
          }}
        >
          {labelOf(newRows, t)}
          <span className="font-normal">· {t.show}</span>
        </Button>
      )}
    </div>
  );
}

function labelOf({ count, isMore }: NewRows, t: (typeof texts)["en"]): string {
  if (isMore || count === 0) return t.changed;
  return count > MAX_NEW_ROWS ? t.many(MAX_NEW_ROWS) : t.fresh(count);
}
