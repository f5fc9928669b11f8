// A virtualised table: only visible rows are rendered and reported to the list. A row has a real link, which Enter, a click
// anywhere in the row and a middle click follow. Keys: j and k move, o opens, x selects.
// The scroll position is restored on return.
import { Link } from "@tanstack/react-router";
import { type CSSProperties, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { List } from "../../api/list.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts } from "../../app/texts.ts";
import { ColumnMenu, mainColumn, useColumnChoice } from "./column-choice.tsx";
import { ROW_PX, useVisibleRows } from "./visible-rows.ts";

const t = defineTexts({
  select: ["Select row", "Zeile auswählen"],
  selectAll: ["Select all loaded rows", "Alle geladenen Zeilen auswählen"],
  more: ["Loading more …", "Weitere werden geladen …"],
});

export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** A second line for screens too narrow for all columns. */
  readonly below?: (row: Row) => ReactNode;
  /** Hidden on narrower screens. */
  readonly from?: "sm" | "md" | "lg" | "xl";
  readonly isNumber?: boolean;
  /**
   * Its share of the width that the other columns leave; longer text is cut. Without it, a column is as wide as its
   * content. A list whose columns have shares fits into any width.
   */
  readonly share?: number;
  /** Hidden until the user chooses it. */
  readonly isExtra?: boolean;
}

/** Where a row leads. */
export interface RowLink {
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
}

/** The selected rows by key, including those that are not visible. */
export interface Selection<Row> {
  readonly selected: ReadonlyMap<string, Row>;
  readonly change: (change: (selected: ReadonlyMap<string, Row>) => ReadonlyMap<string, Row>) => void;
}

/** Larger selections use a replay with a filter. */
export const MAX_SELECTED = 250;

type Paging<Row> = Pick<List<Row>, "onVisibleRows" | "isLoadingMore" | "position" | "savePosition">;

/** The rows are those of a list, or are given without paging. */
export interface DataTableProps<Row> extends Pick<List<Row>, "rows" | "keyOf">, Partial<Paging<Row>> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** The first column with a share of the width becomes the link. */
  readonly linkTo?: (row: Row) => RowLink;
  /** Opens a row that has no page. */
  readonly onOpen?: (row: Row) => void;
  readonly selection?: Selection<Row>;
  /** Actions for the focused row by key, for example `{ r: retry }`. */
  readonly rowKeys?: Readonly<Record<string, (row: Row) => void>>;
}

const FROM = {
  sm: "hidden sm:table-cell",
  md: "hidden md:table-cell",
  lg: "hidden lg:table-cell",
  xl: "hidden xl:table-cell",
} as const;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const {
    label,
    columns: allColumns,
    rows,
    keyOf,
    linkTo,
    onOpen,
    onVisibleRows,
    savePosition,
    position,
    isLoadingMore = false,
    selection,
  } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const choice = useColumnChoice(allColumns);
  const columns = choice.shown;
  const canOpen = linkTo !== undefined || onOpen !== undefined;
  const main = mainColumn(allColumns)?.key;
  const shares = columns.reduce((sum, { share = 0 }) => sum + share, 0);
  const { first, end, scrollTo } = useVisibleRows(body, rows.length, position?.offsetPx ?? 0, (offsetPx) =>
    savePosition?.({ offsetPx }),
  );
  useEffect(() => {
    if (end > first) onVisibleRows?.(first, end - 1);
  });
  const focused = useRowFocus(props, body, scrollTo);
  const above = first * ROW_PX;
  const below = (rows.length - end) * ROW_PX;
  const shown = Array.from({ length: end - first }, (_, offset) => first + offset);
  const held = () => {
    const found: Row[] = [];
    for (let index = 0; index < rows.length && found.length < MAX_SELECTED; index += 1) {
      const row = rows.at(index);
      if (row !== undefined) found.push(row);
    }
    return found;
  };
  return (
    <section
      aria-label={label}
      // what scrolls sideways must be reachable by keyboard, and its header cannot be sticky
      {...(shares === 0 && { tabIndex: 0, className: "overflow-x-auto" })}
    >
      <table aria-label={label} aria-rowcount={rows.length + 1} className="w-full border-collapse text-left">
        <thead className="text-xs text-muted">
          <tr aria-rowindex={1} className={shares === 0 ? "border-b border-line" : ""}>
            {selection && (
              <th className={`w-8 py-2 pl-2 sm:pl-4 ${shares === 0 ? "" : STICKY}`}>
                <input
                  type="checkbox"
                  aria-label={t.selectAll}
                  checked={
                    selection.selected.size > 0 &&
                    selection.selected.size >= Math.min(rows.length, MAX_SELECTED)
                  }
                  onChange={({ target: { checked } }) =>
                    select(props, checked ? held() : [...selection.selected.values()], () => checked)
                  }
                />
              </th>
            )}
            {columns.map(({ key, head, from, isNumber, share }) => {
              const look = [
                "truncate px-2 py-2 font-medium sm:px-3",
                from ? FROM[from] : "",
                isNumber ? "text-right" : "",
                shares === 0 ? "" : STICKY,
                share !== undefined ? "max-w-0 xl:w-(--share)" : shares === 0 ? "" : "w-px",
              ].join(" ");
              // on narrower screens some columns are hidden, and the others share the width equally
              const style = { "--share": `${(100 * (share ?? 0)) / shares}%` } as CSSProperties;
              // columns of buttons have no header
              if (head === "") return <td key={key} className={look} />;
              return (
                <th key={key} scope="col" className={look} style={style}>
                  {head}
                </th>
              );
            })}
            {canOpen && (
              <td className={`hidden w-10 py-1 pr-2 sm:table-cell ${shares === 0 ? "" : `${STICKY} z-20`}`}>
                <ColumnMenu columns={allColumns} choice={choice} />
              </td>
            )}
          </tr>
        </thead>
        <tbody ref={body}>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map((index) => {
            const row = rows.at(index);
            if (row === undefined)
              return (
                <RowPlaceholder
                  key={index}
                  index={index}
                  columns={columns.length + (selection ? 1 : 0) + (canOpen ? 1 : 0)}
                />
              );
            const key = keyOf(row);
            return (
              <tr
                key={key}
                data-row={key}
                aria-rowindex={index + 2}
                aria-current={focused === index || undefined}
                onClick={(event) => {
                  if (isOwnControl(event.target)) return;
                  if (linkTo === undefined) onOpen?.(row);
                  else followLink(event.currentTarget, event.ctrlKey || event.metaKey);
                }}
                onAuxClick={(event) => {
                  if (event.button === 1 && !isOwnControl(event.target))
                    followLink(event.currentTarget, true);
                }}
                className={`h-[41px] border-b border-line last:border-0 ${canOpen ? "cursor-pointer" : ""} ${
                  focused === index
                    ? "bg-raised outline-2 -outline-offset-2 outline-accent-ink"
                    : "hover:bg-raised/60"
                }`}
              >
                {selection && (
                  <td className="w-8 pl-2 sm:pl-4">
                    <input
                      type="checkbox"
                      aria-label={t.select}
                      checked={selection.selected.has(key)}
                      onChange={({ target: { checked } }) => select(props, [row], () => checked)}
                    />
                  </td>
                )}
                {columns.map(({ key: column, cell, below, from, isNumber, share }) => (
                  <td
                    key={column}
                    className={`truncate px-2 py-0.5 sm:px-3 ${share === undefined ? "max-w-44 xl:max-w-64" : "max-w-0"} ${
                      from ? FROM[from] : ""
                    } ${isNumber ? "text-right tabular-nums" : ""}`}
                  >
                    {column === main && linkTo !== undefined ? (
                      <RowAnchor to={linkTo(row)}>{cell(row)}</RowAnchor>
                    ) : (
                      cell(row)
                    )}
                    {below && (
                      <span className="block truncate text-xs text-muted xl:hidden">{below(row)}</span>
                    )}
                  </td>
                ))}
                {canOpen && <td className="hidden sm:table-cell" />}
              </tr>
            );
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
      {isLoadingMore && (
        <p role="status" className="p-3 text-center text-sm text-muted">
          {t.more}
        </p>
      )}
    </section>
  );
}

/** Below the page's header while the list scrolls. The border of a row would not stay with it. */
const STICKY = "sticky top-0 z-10 bg-surface shadow-[inset_0_-1px_0_var(--color-line)]";

function RowAnchor({
  to: { to, params, search },
  children,
}: {
  readonly to: RowLink;
  readonly children: ReactNode;
}) {
  return (
    <Link
      to={to}
      params={params as never}
      search={(search ?? {}) as never}
      data-open
      className="block truncate underline-offset-2 hover:underline"
    >
      {children}
    </Link>
  );
}

const LINK = "a[data-open]";

function followLink(row: Element | null | undefined, inNewTab = false): void {
  const link = row?.querySelector<HTMLAnchorElement>(LINK);
  if (!inNewTab) link?.click();
  else if (link) window.open(link.href, "_blank", "noopener");
}

/** Clicks on controls inside a row do not open it. */
function isOwnControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, select, label") !== null;
}

/** Placeholder of a row that is not loaded, with the same height. */
function RowPlaceholder({ index, columns }: { readonly index: number; readonly columns: number }) {
  return (
    <tr aria-rowindex={index + 2} aria-busy="true" className="h-[41px] border-b border-line">
      <td colSpan={columns} className="px-4">
        <span className="block h-2 w-1/3 rounded bg-raised" />
      </td>
    </tr>
  );
}

function select<Row>(
  { selection, keyOf }: DataTableProps<Row>,
  rows: readonly Row[],
  isWanted: (isSelected: boolean) => boolean,
): void {
  selection?.change((selected) => {
    const next = new Map(selected);
    for (const row of rows) {
      const key = keyOf(row);
      if (!isWanted(next.has(key))) next.delete(key);
      else if (next.size < MAX_SELECTED) next.set(key, row);
    }
    return next;
  });
}

function useRowFocus<Row>(
  props: DataTableProps<Row>,
  body: RefObject<HTMLTableSectionElement | null>,
  scrollTo: (index: number) => void,
): number | null {
  const { rows, keyOf, linkTo, onOpen, rowKeys, selection, position, savePosition } = props;
  const [ownIndex, setOwnIndex] = useState<number | null>(null);
  const index = savePosition === undefined ? ownIndex : (position?.focused ?? null);
  // keys may arrive faster than the table renders
  const focused = useRef(index);
  focused.current = index;
  const rowOf = (row: Row) =>
    [...(body.current?.querySelectorAll("tr[data-row]") ?? [])].find(
      (element) => element.getAttribute("data-row") === keyOf(row),
    );
  const wasMoved = useRef(false);
  useEffect(() => {
    if (!wasMoved.current || index === null) return;
    wasMoved.current = false;
    // so that Enter opens the row
    const row = rows.at(index);
    if (row !== undefined) rowOf(row)?.querySelector<HTMLElement>(LINK)?.focus({ preventScroll: true });
  });
  const move = (step: 1 | -1) => {
    const now = focused.current;
    const next = now === null ? 0 : Math.min(rows.length - 1, Math.max(0, now + step));
    if (rows.length === 0) return;
    focused.current = next;
    wasMoved.current = true;
    if (savePosition === undefined) setOwnIndex(next);
    else savePosition({ focused: next });
    scrollTo(next);
  };
  const withRow = (act: ((row: Row) => void) | undefined) => () => {
    const row = focused.current === null ? undefined : rows.at(focused.current);
    if (row !== undefined) act?.(row);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: withRow(linkTo === undefined ? onOpen : (row) => followLink(rowOf(row))),
    ...(selection && { x: withRow((row) => select(props, [row], (isSelected) => !isSelected)) }),
    ...Object.fromEntries(Object.entries(rowKeys ?? {}).map(([key, act]) => [key, withRow(act)])),
  });
  return index;
}
