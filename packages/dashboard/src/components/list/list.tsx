// A list with its four empty states around the table, and a button over it when something has come since.
import { type ReactNode, useRef } from "react";
import type { List } from "../../api/list.ts";
import { MOST_NEWS } from "../../api/list-news.ts";
import type { News } from "../../api/news.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Failed, FilteredOut, Loading } from "../ui/states.tsx";
import { DataTable, type DataTableProps } from "./data-table.tsx";

export interface ListViewProps<Row>
  extends Omit<DataTableProps<Row>, "rows" | "onSight" | "isLoadingMore" | "place" | "onPlace"> {
  readonly list: List<Row>;
  /** Set while filters are: takes them away. */
  readonly onClearFilters?: (() => void) | undefined;
  /** Beside the way out of filters that nothing matches. */
  readonly filteredOut?: ReactNode;
  /** Shown when there is nothing at all. */
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
      <NewRows news={list.news} onShow={list.showNews} />
      <DataTable
        {...table}
        rows={list.rows}
        onSight={list.look}
        isLoadingMore={list.isLoadingMore}
        place={list.place}
        onPlace={list.keepPlace}
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
    changed: "Es gibt Neues",
    show: "zeigen",
  },
});

/** Without a height of its own: rows stay where they are when it comes. */
function NewRows({ news, onShow }: { readonly news: News; readonly onShow: () => void }) {
  const t = useTexts(texts);
  const place = useRef<HTMLDivElement>(null);
  return (
    <div
      ref={place}
      tabIndex={-1}
      aria-live="polite"
      className="pointer-events-none sticky top-6 z-10 flex h-0 justify-center focus:outline-none"
    >
      {(news.count > 0 || news.isMore) && (
        <Button
          kind="primary"
          icon="up"
          className="pointer-events-auto h-fit -translate-y-3/5 !rounded-full !py-1 !text-xs shadow-md"
          onClick={() => {
            // the button goes: whoever pressed it by keyboard goes on from here
            place.current?.focus();
            window.scrollTo({ top: 0 });
            onShow();
          }}
        >
          {saidOf(news, t)}
          <span className="font-normal">· {t.show}</span>
        </Button>
      )}
    </div>
  );
}

function saidOf({ count, isMore }: News, t: (typeof texts)["en"]): string {
  if (isMore || count === 0) return t.changed;
  return count > MOST_NEWS ? t.many(MOST_NEWS) : t.fresh(count);
}
