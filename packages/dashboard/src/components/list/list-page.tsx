// A list with its empty states and the button that announces new rows, in a panel, and as a page.
import { type ReactNode, useRef } from "react";
import type { List } from "../../api/list.ts";
import { MAX_NEW_ROWS } from "../../api/list-updates.ts";
import type { NewRows } from "../../api/new-rows.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Failed, FilteredOut, Loading, NothingYet, Page, Panel } from "../ui/page.tsx";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { type Field, FilterBar } from "./filter-bar.tsx";

const t = defineTexts({
  fresh: ["{count} new", "{count} neu"],
  many: ["More than {count} new", "Mehr als {count} neu"],
  changed: ["New activity", "Neue Aktivität"],
  show: ["show", "anzeigen"],
});

interface ListPanelProps<Row> extends Omit<ListViewProps<Row>, "label" | "onClearFilters"> {
  readonly title: string;
  readonly actions?: ReactNode;
}

export interface ListPageProps<Row> extends ListPanelProps<Row> {
  readonly lead?: ReactNode;
  /** Omit for a list without filters. */
  readonly filterBy?: readonly Field[];
  /** Bars and dialogs below the table. */
  readonly children?: ReactNode;
}

export function ListPage<Row>({ title, lead, actions, filterBy, children, ...list }: ListPageProps<Row>) {
  const { clear } = useFilters();
  return (
    <Page title={title} lead={lead} actions={actions}>
      {filterBy && <FilterBar fields={filterBy} />}
      <Panel isFlush>
        <ListView label={title} onClearFilters={filterBy && clear} {...list} />
      </Panel>
      {children}
    </Page>
  );
}

/** A part of a page that consists of one list. */
export function ListPanel<Row>({ title, actions, ...list }: ListPanelProps<Row>) {
  return (
    <Panel title={title} actions={actions} isFlush>
      <ListView label={title} {...list} />
    </Panel>
  );
}

interface ListViewProps<Row> extends Omit<DataTableProps<Row>, keyof List<Row>> {
  readonly list: List<Row>;
  /** Clears the filters; undefined if none is set. */
  readonly onClearFilters?: (() => void) | undefined;
  /** Shown in addition when the filters match nothing. */
  readonly filteredOut?: ReactNode;
  /** Shown for an empty list: a title, details, and the command that creates the first item. */
  readonly nothing: string;
  readonly nothingDetail?: ReactNode;
  readonly command?: string | undefined;
}

function ListView<Row>({
  list,
  onClearFilters,
  filteredOut,
  nothing,
  nothingDetail,
  command,
  ...table
}: ListViewProps<Row>) {
  if (list.isLoading) return <Loading />;
  if (list.error !== null && list.rows.length === 0)
    return <Failed error={list.error} onRetry={list.reload} />;
  if (list.rows.length === 0) {
    if (onClearFilters === undefined)
      return (
        <NothingYet title={nothing} command={command}>
          {nothingDetail}
        </NothingYet>
      );
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
      <DataTable {...table} {...list} />
      {list.error !== null && <Failed error={list.error} onRetry={list.reload} />}
    </>
  );
}

/** Has no height, so that rows do not move when it appears. */
function NewRowsButton({ newRows, onShow }: { readonly newRows: NewRows; readonly onShow: () => void }) {
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
          {labelOf(newRows)}
          <span className="font-normal">· {t.show}</span>
        </Button>
      )}
    </div>
  );
}

function labelOf({ count, isMore }: NewRows): string {
  if (isMore || count === 0) return t.changed;
  return count > MAX_NEW_ROWS ? t.many({ count: MAX_NEW_ROWS }) : t.fresh({ count: whole(count) });
}
