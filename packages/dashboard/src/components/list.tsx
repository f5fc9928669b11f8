// A list with its four empty states around the table.
import type { ReactNode } from "react";
import type { List } from "../api/list.ts";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { Failed, FilteredOut, Loading } from "./states.tsx";

export interface ListViewProps<Row>
  extends Omit<DataTableProps<Row>, "rows" | "onSight" | "isLoadingMore" | "place" | "onPlace"> {
  readonly list: List<Row>;
  /** Set while filters are: takes them away. */
  readonly onClearFilters?: (() => void) | undefined;
  /** Shown when there is nothing at all. */
  readonly nothingYet: ReactNode;
}

export function ListView<Row>({ list, onClearFilters, nothingYet, ...table }: ListViewProps<Row>) {
  if (list.isLoading) return <Loading />;
  if (list.error !== null && list.rows.length === 0)
    return <Failed error={list.error} onRetry={list.reload} />;
  if (list.rows.length === 0) return onClearFilters ? <FilteredOut onClear={onClearFilters} /> : nothingYet;
  return (
    <>
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
