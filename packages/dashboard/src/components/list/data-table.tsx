// A list of any length: only the rows in sight are in the page, and whoever holds the rows is told which these are.
// j and k go through the rows, o opens one, x chooses one. Coming back, the reader is where they were.
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ReadingPlace, Rows } from "../../api/list.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { ROW_PX, useRowsInSight } from "./rows-in-sight.ts";

const texts = defineTexts({
  en: { select: "Select this row", selectAll: "Select all rows that are loaded", more: "Loading more …" },
  de: { select: "Diese Zeile wählen", selectAll: "Alle geladenen Zeilen wählen", more: "Lädt weitere …" },
});

export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** A second line in smaller letters, on screens too narrow for the columns that say it. */
  readonly below?: (row: Row) => ReactNode;
  /** Left out on narrower screens. */
  readonly from?: "sm" | "md" | "lg" | "xl";
  readonly isNumber?: boolean;
}

/** Rows by their keys, for something to be done with all of them at once; kept also while they are out of sight. */
export interface Selection<Row> {
  readonly chosen: ReadonlyMap<string, Row>;
  readonly change: (change: (chosen: ReadonlyMap<string, Row>) => ReadonlyMap<string, Row>) => void;
}

/** More than these are chosen by a filter, which the server goes through by itself. */
export const MOST_CHOSEN = 250;

export interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Rows<Row>;
  readonly keyOf: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
  /** Which rows are in sight. */
  readonly onSight?: (first: number, last: number) => void;
  readonly isLoadingMore?: boolean;
  readonly place?: ReadingPlace;
  readonly onPlace?: (change: Partial<ReadingPlace>) => void;
  readonly selection?: Selection<Row>;
  /** What a key does with the row it stands on: `{ r: retry }`. */
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
    columns,
    rows,
    keyOf,
    onOpen,
    onSight,
    onPlace,
    place,
    isLoadingMore = false,
    selection,
  } = props;
  const t = useTexts(texts);
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end, scrollTo } = useRowsInSight(body, rows.length, place?.offsetPx ?? 0, (offsetPx) =>
    onPlace?.({ offsetPx }),
  );
  useEffect(() => {
    if (end > first) onSight?.(first, end - 1);
  });
  const focused = useRowFocus(props, scrollTo);
  const above = first * ROW_PX;
  const below = (rows.length - end) * ROW_PX;
  const shown = Array.from({ length: end - first }, (_, offset) => first + offset);
  const held = () => {
    const found: Row[] = [];
    for (let index = 0; index < rows.length && found.length < MOST_CHOSEN; index += 1) {
      const row = rows.at(index);
      if (row !== undefined) found.push(row);
    }
    return found;
  };
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto"
    >
      <table aria-label={label} aria-rowcount={rows.length + 1} className="w-full border-collapse text-left">
        <thead className="text-xs text-muted">
          <tr aria-rowindex={1} className="border-b border-line">
            {selection && (
              <th className="w-8 py-2 pl-2 sm:pl-4">
                <input
                  type="checkbox"
                  aria-label={t.selectAll}
                  checked={
                    selection.chosen.size > 0 && selection.chosen.size >= Math.min(rows.length, MOST_CHOSEN)
                  }
                  onChange={({ target: { checked } }) =>
                    choose(props, checked ? held() : [...selection.chosen.values()], () => checked)
                  }
                />
              </th>
            )}
            {columns.map(({ key, head, from, isNumber }) => {
              const look = `px-2 py-2 font-medium sm:px-3 ${from ? FROM[from] : ""} ${isNumber ? "text-right" : ""}`;
              // over buttons there is nothing to say
              if (head === "") return <td key={key} className={look} />;
              return (
                <th key={key} scope="col" className={look}>
                  {head}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody ref={body}>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map((index) => {
            const row = rows.at(index);
            if (row === undefined)
              return <NotHeld key={index} index={index} columns={columns.length + (selection ? 1 : 0)} />;
            const key = keyOf(row);
            return (
              <tr
                key={key}
                data-row={key}
                aria-rowindex={index + 2}
                aria-current={focused === index || undefined}
                onClick={(event) => {
                  if (!isOwnControl(event.target)) onOpen?.(row);
                }}
                className={`h-[41px] border-b border-line last:border-0 ${onOpen ? "cursor-pointer" : ""} ${
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
                      checked={selection.chosen.has(key)}
                      onChange={({ target: { checked } }) => choose(props, [row], () => checked)}
                    />
                  </td>
                )}
                {columns.map(({ key: column, cell, below, from, isNumber }) => (
                  <td
                    key={column}
                    className={`max-w-44 truncate px-2 py-1 sm:px-3 xl:max-w-64 ${from ? FROM[from] : ""} ${
                      isNumber ? "text-right tabular-nums" : ""
                    }`}
                  >
                    {cell(row)}
                    {below && (
                      <span className="block truncate text-xs leading-4 text-muted xl:hidden">
                        {below(row)}
                      </span>
                    )}
                  </td>
                ))}
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

/** A link, button or box in a row does what it does itself. */
function isOwnControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, select, label") !== null;
}

/** As tall as the row that comes here when it has been read. */
function NotHeld({ index, columns }: { readonly index: number; readonly columns: number }) {
  return (
    <tr aria-rowindex={index + 2} aria-busy="true" className="h-[41px] border-b border-line">
      <td colSpan={columns} className="px-4">
        <span className="block h-2 w-1/3 rounded bg-raised" />
      </td>
    </tr>
  );
}

function choose<Row>(
  { selection, keyOf }: DataTableProps<Row>,
  rows: readonly Row[],
  isWanted: (isChosen: boolean) => boolean,
): void {
  selection?.change((chosen) => {
    const next = new Map(chosen);
    for (const row of rows) {
      const key = keyOf(row);
      if (!isWanted(next.has(key))) next.delete(key);
      else if (next.size < MOST_CHOSEN) next.set(key, row);
    }
    return next;
  });
}

function useRowFocus<Row>(props: DataTableProps<Row>, scrollTo: (index: number) => void): number | null {
  const { rows, onOpen, rowKeys, selection, place, onPlace } = props;
  const [ownIndex, setOwnIndex] = useState<number | null>(null);
  const index = onPlace === undefined ? ownIndex : (place?.focused ?? null);
  // keys may come faster than the page is drawn
  const focused = useRef(index);
  focused.current = index;
  const move = (step: 1 | -1) => {
    const now = focused.current;
    const next = now === null ? 0 : Math.min(rows.length - 1, Math.max(0, now + step));
    if (rows.length === 0) return;
    focused.current = next;
    if (onPlace === undefined) setOwnIndex(next);
    else onPlace({ focused: next });
    scrollTo(next);
  };
  const withRow = (act: ((row: Row) => void) | undefined) => () => {
    const row = focused.current === null ? undefined : rows.at(focused.current);
    if (row !== undefined) act?.(row);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: withRow(onOpen),
    ...(selection && { x: withRow((row) => choose(props, [row], (isChosen) => !isChosen)) }),
    ...Object.fromEntries(Object.entries(rowKeys ?? {}).map(([key, act]) => [key, withRow(act)])),
  });
  return index;
}
