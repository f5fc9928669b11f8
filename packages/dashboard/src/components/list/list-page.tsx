// A screen that is one list: title, filters that are in the address, the table, and what can be done with rows.
import type { ReactNode } from "react";
import { useFilters } from "../../app/filters.ts";
import { Page, Panel } from "../ui/panel.tsx";
import { type Field, FilterBar } from "./filter-bar.tsx";
import { ListView, type ListViewProps } from "./list.tsx";

export interface ListPageProps<Row> extends Omit<ListViewProps<Row>, "label" | "onClearFilters"> {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** None: nothing can be filtered. */
  readonly filterBy?: readonly Field[];
  /** What stands below the table: bars and dialogs. */
  readonly children?: ReactNode;
}

export function ListPage<Row>({ title, lead, actions, filterBy, children, ...list }: ListPageProps<Row>) {
  const { filters, set, clear } = useFilters();
  return (
    <Page title={title} lead={lead} actions={actions}>
      {filterBy && <FilterBar filters={filters} onChange={set} fields={filterBy} />}
      <Panel isFlush>
        <ListView label={title} onClearFilters={filterBy && clear} {...list} />
      </Panel>
      {children}
    </Page>
  );
}
