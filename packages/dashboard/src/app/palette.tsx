// The search palette: screens by name, resources by id, subject or tenant.
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import { Dialog } from "../components/ui/dialog.tsx";
import { Icon } from "../components/ui/icons.tsx";
import type { NavigationItem } from "./shell.tsx";
import { defineTexts } from "./texts.ts";

const t = defineTexts({
  title: ["Search", "Suchen"],
  label: ["Page, ID, subject or tenant", "Seite, ID, Subject oder Mandant"],
  nothing: ["No results", "Keine Treffer"],
});

export function Palette({
  isOpen,
  onClose,
  items,
  useSearchResults,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly items: readonly NavigationItem[];
  /** Returns further results for a search text. */
  readonly useSearchResults: (text: string) => readonly NavigationItem[];
}) {
  const listId = useId();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = text.trim().toLowerCase();
  const screens = items.filter(({ name }) => name.toLowerCase().includes(wanted));
  const found = [...screens, ...useSearchResults(text.trim())];
  const close = () => {
    setText("");
    setChosen(0);
    onClose();
  };
  const go = (item: NavigationItem | undefined) => {
    if (item === undefined) return;
    close();
    void navigate({ to: item.to, search: (item.search ?? {}) as never });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setChosen(Math.min(found.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(0, chosen - 1));
    else if (event.key === "Enter") go(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t.title} isOpen={isOpen} onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${chosen}` : undefined}
        aria-label={t.label}
        placeholder={t.label}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
        className="w-full rounded-md border border-line bg-surface min-h-8 px-2 py-1"
      />
      <div id={listId} role="listbox" aria-label={t.title}>
        {found.map((item, index) => (
          <div
            key={`${item.to}?${JSON.stringify(item.search)}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(item)}
            onKeyDown={onKeyDown}
            className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 aria-selected:bg-raised"
          >
            <Icon name={item.icon} className="text-muted" />
            {item.name}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="text-muted">{t.nothing}</p>}
    </Dialog>
  );
}
