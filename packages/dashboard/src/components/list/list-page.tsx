// A page that consists of one list with filters.
import type { ReactNode } from "react";
import { useFilters } from "../../app/filters.ts";
import { Page, Panel } from "../ui/panel.tsx";
import { type Field, FilterBar } from "./filter-bar.tsx";
import { ListView, type ListViewProps } from "./list.tsx";

export interface ListPageProps<Row> extends Omit<ListViewProps<Row>, "label" | "onClearFilters"> {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** Omit for a list without filters. */
  readonly filterBy?: readonly Field[];
  /** Bars and dialogs below the table. */
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
