// The columns that a user has chosen for a list, stored in this browser.
import { useMatches } from "@tanstack/react-router";
import { type FocusEvent, useId, useRef, useState } from "react";
import { readStored, writeStored } from "../../app/browser-storage.ts";
import { defineTexts } from "../../app/texts.ts";
import { Icon } from "../ui/icons.tsx";
import type { Column } from "./data-table.tsx";

const t = defineTexts({
  columns: ["Columns", "Spalten"],
});

/** By the key of a column. */
type Choice = Readonly<Record<string, boolean>>;

export interface ColumnChoice<Row> {
  /** The columns to show, in their order. */
  readonly shown: readonly Column<Row>[];
  readonly isShown: (column: Column<Row>) => boolean;
  readonly toggle: (column: Column<Row>) => void;
}

/** Lists of the same page differ in their first column. */
export function useColumnChoice<Row>(columns: readonly Column<Row>[]): ColumnChoice<Row> {
  const route = useMatches({ select: (matches) => matches.at(-1)?.routeId });
  const storageKey = `posthorn-columns:${route}:${columns[0]?.key}`;
  const [stored, setStored] = useState<{ readonly key: string; readonly choice: Choice }>();
  const choice = stored?.key === storageKey ? stored.choice : readChoice(storageKey);
  const isShown = ({ key, isExtra = false }: Column<Row>) => choice[key] ?? !isExtra;
  return {
    shown: columns.flatMap((column) => {
      if (column !== mainColumn(columns) && !isShown(column)) return [];
      // a chosen column is shown wherever there is some space
      return choice[column.key] === true ? [{ ...column, from: "sm" as const }] : [column];
    }),
    isShown,
    toggle: (column) => {
      const next = { ...choice, [column.key]: !isShown(column) };
      writeStored(storageKey, next);
      setStored({ key: storageKey, choice: next });
    },
  };
}

/** The column that is always shown, and has the link of the row. */
export function mainColumn<Row>(columns: readonly Column<Row>[]): Column<Row> | undefined {
  return columns.find(({ share }) => share !== undefined) ?? columns[0];
}

/** Ignores stored values that are not a choice. */
function readChoice(key: string): Choice {
  const entries = Object.entries(readStored(key) ?? {});
  return Object.fromEntries(entries.filter(([, isShown]) => typeof isShown === "boolean"));
}

/** A menu of all columns but the main one. Closes when the focus leaves it. */
export function ColumnMenu<Row>({
  columns,
  choice,
}: {
  readonly columns: readonly Column<Row>[];
  readonly choice: ColumnChoice<Row>;
}) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menuId = useId();
  const closeOnLeave = (event: FocusEvent<HTMLElement>) => {
    if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: closes the menu for its controls
    <div
      className="relative flex justify-end"
      onBlur={closeOnLeave}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        setOpen(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        aria-label={t.columns}
        title={t.columns}
        aria-expanded={isOpen}
        aria-controls={menuId}
        onClick={() => setOpen(!isOpen)}
        className="rounded-md p-1 hover:bg-raised hover:text-ink"
      >
        <Icon name="columns" />
      </button>
      {isOpen && (
        <fieldset
          id={menuId}
          tabIndex={-1}
          aria-label={t.columns}
          className="absolute top-full right-0 z-30 flex max-h-80 flex-col gap-1 overflow-y-auto rounded-md border border-line bg-surface p-2 text-sm font-normal whitespace-nowrap text-ink shadow-lg"
        >
          {columns.map(
            (column) =>
              column.head !== "" &&
              column !== mainColumn(columns) && (
                <label
                  key={column.key}
                  className="flex items-center gap-2 rounded px-1 py-0.5 hover:bg-raised"
                >
                  <input
                    type="checkbox"
                    checked={choice.isShown(column)}
                    onChange={() => choice.toggle(column)}
                  />
                  {column.head}
                </label>
              ),
          )}
        </fieldset>
      )}
    </div>
  );
}
