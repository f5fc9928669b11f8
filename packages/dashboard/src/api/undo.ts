// The one way back. What is taken back is put as it was before, unless somebody has changed it since: their change stays.
import { useQueryClient } from "@tanstack/react-query";
import { defineTexts, useTexts } from "../app/texts.ts";
import { say, sayError, sayRefused } from "../components/ui/toasts.tsx";

const texts = defineTexts({
  en: {
    undone: "Undone.",
    changedSince: "Not undone: it has been changed by somebody since, and their change stays.",
  },
  de: {
    undone: "Rückgängig gemacht.",
    changedSince: "Nicht rückgängig gemacht: Jemand hat es seither geändert, und das bleibt.",
  },
});

export interface Change<Value> {
  /** What was changed, as it was left. */
  readonly after: Value;
  /** The same as it is now. */
  readonly read: () => Promise<Value>;
  readonly takeBack: () => Promise<unknown>;
}

/** Says what was done, and offers the way back for a while. */
export function useUndoable(): <Value>(said: string, change: Change<Value>) => void {
  const t = useTexts(texts);
  const queries = useQueryClient();
  return (said, { after, read, takeBack }) => {
    const undo = async () => {
      try {
        if (!isSame(await read(), after)) return sayRefused(t.changedSince);
        await takeBack();
        say(t.undone);
      } catch (error) {
        sayError(error);
      } finally {
        await queries.invalidateQueries();
      }
    };
    say(said, { undo: () => void undo() });
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The fields that a change names, of what it was made to. */
export function fieldsOf<Thing extends object>(thing: Thing, change: object): Partial<Thing> {
  const names = Object.keys(change) as (keyof Thing)[];
  return Object.fromEntries(names.map((name) => [name, thing[name]])) as Partial<Thing>;
}
