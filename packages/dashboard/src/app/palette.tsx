// Goes to a screen by a few letters of its name, or to what is found by an id, a subject or a customer's name.
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import { Dialog } from "../components/ui/dialog.tsx";
import { Icon } from "../components/ui/icons.tsx";
import type { Place } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    title: "Go to",
    label: "A screen, an id, a subject or a customer",
    nothing: "Nothing has that name",
  },
  de: {
    title: "Gehe zu",
    label: "Ansicht, Id, Gegenstand oder Kunde",
    nothing: "Nichts heißt so",
  },
});

export function Palette({
  isOpen,
  onClose,
  places,
  useFound,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly places: readonly Place[];
  /** What the text leads to besides. */
  readonly useFound: (text: string) => readonly Place[];
}) {
  const t = useTexts(texts);
  const listId = useId();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = text.trim().toLowerCase();
  const screens = places.filter(({ name }) => name.toLowerCase().includes(wanted));
  const found = [...screens, ...useFound(text.trim())];
  const close = () => {
    setText("");
    setChosen(0);
    onClose();
  };
  const go = (place: Place | undefined) => {
    if (place === undefined) return;
    close();
    void navigate({ to: place.to, search: (place.search ?? {}) as never });
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
        className="w-full rounded-md border border-line bg-surface px-2.5 py-2"
      />
      <div id={listId} role="listbox" aria-label={t.title}>
        {found.map((place, index) => (
          <div
            key={`${place.to}?${JSON.stringify(place.search)}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(place)}
            onKeyDown={onKeyDown}
            className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 aria-selected:bg-raised"
          >
            <Icon name={place.icon} className="text-muted" />
            {place.name}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="text-muted">{t.nothing}</p>}
    </Dialog>
  );
}
