// A list of any length: pages are asked for as the reader comes near the end, and only the rows in sight are in the page.
// j and k go through the rows, o or Enter opens one.
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "../app/keyboard.tsx";
import { defineTexts, useTexts } from "../app/texts.ts";

const texts = defineTexts({
  en: { select: "Select this row", selectAll: "Select all rows that are loaded", more: "Loading more …" },
  de: { select: "Diese Zeile wählen", selectAll: "Alle geladenen Zeilen wählen", more: "Lädt weitere …" },
});

export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Left out on narrower screens. */
  readonly from?: "sm" | "md" | "lg";
  readonly isNumber?: boolean;
}

export interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
  /** The reader is near the end. */
  readonly onEnd?: () => void;
  readonly isLoadingMore?: boolean;
  /** Keys of rows for something to be done with all of them at once. */
  readonly selection?: {
    readonly keys: ReadonlySet<string>;
    readonly onChange: (keys: ReadonlySet<string>) => void;
  };
  /** What a key does with the row it stands on: `{ r: retry }`. */
  readonly rowKeys?: Readonly<Record<string, (row: Row) => void>>;
}

const ROW_PX = 41;
const AHEAD = 12;
const FROM = { sm: "hidden sm:table-cell", md: "hidden md:table-cell", lg: "hidden lg:table-cell" } as const;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, onOpen, onEnd, isLoadingMore = false, selection } = props;
  const t = useTexts(texts);
  const body = useRef<HTMLTableSectionElement>(null);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: AHEAD,
    scrollMargin: body.current?.offsetTop ?? 0,
  });
  const shown = virtual.getVirtualItems();
  const first = shown[0];
  const last = shown.at(-1);
  const isNearEnd = last !== undefined && last.index >= rows.length - AHEAD;
  useEffect(() => {
    if (isNearEnd && !isLoadingMore) onEnd?.();
  }, [isNearEnd, isLoadingMore, onEnd]);
  const focused = useRowFocus(props, (index) => virtual.scrollToIndex(index, { align: "auto" }));
  const above = first === undefined ? 0 : first.start - virtual.options.scrollMargin;
  const below = last === undefined ? 0 : virtual.getTotalSize() - (last.end - virtual.options.scrollMargin);
  const toggle = (keys: readonly string[], isOn: boolean) => {
    const next = new Set(selection?.keys);
    for (const key of keys) isOn ? next.add(key) : next.delete(key);
    selection?.onChange(next);
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
              <th className="w-8 py-2 pl-4">
                <input
                  type="checkbox"
                  aria-label={t.selectAll}
                  checked={rows.length > 0 && selection.keys.size === rows.length}
                  onChange={(event) => toggle(rows.map(keyOf), event.target.checked)}
                />
              </th>
            )}
            {columns.map(({ key, head, from, isNumber }) => {
              const look = `px-4 py-2 font-medium ${from ? FROM[from] : ""} ${isNumber ? "text-right" : ""}`;
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
          {shown.map(({ index }) => {
            const row = rows[index] as Row;
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
                  <td className="w-8 pl-4">
                    <input
                      type="checkbox"
                      aria-label={t.select}
                      checked={selection.keys.has(key)}
                      onChange={(event) => toggle([key], event.target.checked)}
                    />
                  </td>
                )}
                {columns.map(({ key: column, cell, from, isNumber }) => (
                  <td
                    key={column}
                    className={`max-w-80 truncate px-4 py-2 ${from ? FROM[from] : ""} ${
                      isNumber ? "text-right tabular-nums" : ""
                    }`}
                  >
                    {cell(row)}
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

function useRowFocus<Row>(
  { rows, onOpen, rowKeys }: DataTableProps<Row>,
  scrollTo: (index: number) => void,
): number | null {
  const [index, setIndex] = useState<number | null>(null);
  const move = (step: 1 | -1) => {
    const next = index === null ? 0 : Math.min(rows.length - 1, Math.max(0, index + step));
    if (rows.length === 0) return;
    setIndex(next);
    scrollTo(next);
  };
  const withRow = (act: ((row: Row) => void) | undefined) => () => {
    const row = index === null ? undefined : rows[index];
    if (row !== undefined) act?.(row);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: withRow(onOpen),
    ...Object.fromEntries(Object.entries(rowKeys ?? {}).map(([key, act]) => [key, withRow(act)])),
  });
  return index;
}
