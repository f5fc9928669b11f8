// Undo for changes. Refused if the resource was changed again in the meantime.
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts, useTexts } from "../app/texts.ts";
import { showError, showFailure, showToast } from "../components/ui/toasts.tsx";

const texts = defineTexts({
  en: {
    undone: "Undone.",
    changedSince: "Not undone: it was changed again in the meantime.",
  },
  de: {
    undone: "Rückgängig gemacht.",
    changedSince: "Nicht rückgängig gemacht: Es wurde zwischenzeitlich erneut geändert.",
  },
});

export interface Change<Value> {
  /** The changed fields after the change. */
  readonly after: Value;
  /** Reads the current value of these fields. */
  readonly read: () => Promise<Value>;
  readonly revert: () => Promise<unknown>;
}

/** Shows a toast with an undo button. */
export function useUndoable(): <Value>(message: string, change: Change<Value>) => void {
  const t = useTexts(texts);
  const queries = useQueryClient();
  return (message, { after, read, revert }) => {
    const undo = async () => {
      try {
        if (!isSame(await read(), after)) return showFailure(t.changedSince);
        await revert();
        showToast(t.undone);
      } catch (error) {
        showError(error);
      } finally {
        await queries.invalidateQueries();
      }
    };
    showToast(message, { undo: () => void undo() });
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Picks the fields of `thing` that `change` names. */
export function fieldsOf<Thing extends object>(thing: Thing, change: object): Partial<Thing> {
  const names = Object.keys(change) as (keyof Thing)[];
  return Object.fromEntries(names.map((name) => [name, thing[name]])) as Partial<Thing>;
}
