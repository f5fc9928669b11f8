// The list of keyboard shortcuts.
import { Dialog } from "../components/ui/dialog.tsx";
import type { NavigationItem } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    title: "Keyboard shortcuts",
    next: "Next row",
    before: "Previous row",
    open: "Open row",
    retry: "Retry delivery",
    choose: "Select or deselect row",
    undo: "Undo last change",
    palette: "Search screens, ids, subjects and tenants",
    help: "Show this help",
  },
  de: {
    title: "Tastenkürzel",
    next: "Nächste Zeile",
    before: "Vorherige Zeile",
    open: "Zeile öffnen",
    retry: "Zustellung erneut versuchen",
    choose: "Zeile aus- oder abwählen",
    undo: "Letzte Änderung rückgängig machen",
    palette: "Seiten, IDs, Subjects und Mandanten suchen",
    help: "Diese Hilfe anzeigen",
  },
});

export function KeyHelp({
  isOpen,
  onClose,
  items,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly items: readonly NavigationItem[];
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
    ...items.flatMap(({ key, name }) => (key ? [[`g ${key}`, name] as const] : [])),
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
