// Which keys do what.
import { Dialog } from "../components/ui/dialog.tsx";
import type { Place } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    title: "Keyboard shortcuts",
    next: "Next row",
    before: "Row before",
    open: "Open the row",
    retry: "Retry the row or delivery",
    choose: "Choose the row, or not",
    undo: "Undo what was just done",
    palette: "Go to a screen, an id, a subject or a customer",
    help: "This help",
  },
  de: {
    title: "Tastenkürzel",
    next: "Nächste Zeile",
    before: "Zeile davor",
    open: "Zeile öffnen",
    retry: "Zeile oder Zustellung neu versuchen",
    choose: "Zeile wählen oder nicht",
    undo: "Rückgängig machen, was eben geschah",
    palette: "Zu Ansicht, Id, Gegenstand oder Kunde",
    help: "Diese Hilfe",
  },
});

export function KeyHelp({
  isOpen,
  onClose,
  places,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly places: readonly Place[];
}) {
  const t = useTexts(texts);
  const rows: readonly (readonly [string, string])[] = [
    ["j", t.next],
    ["k", t.before],
    ["o", t.open],
    ["x", t.choose],
    ["r", t.retry],
    ["u", t.undo],
    ["/", t.palette],
    ...places.flatMap(({ key, name }) => (key ? [[`g ${key}`, name] as const] : [])),
    ["?", t.help],
  ];
  return (
    <Dialog title={t.title} isOpen={isOpen} onClose={onClose}>
      <dl className="grid grid-cols-[4rem_1fr] gap-y-2">
        {rows.map(([key, what]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-raised px-1.5 py-0.5 font-mono text-xs">
                {key}
              </kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
