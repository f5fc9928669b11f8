// A text field of a filter with suggestions. Choosing one applies it; other text is applied by Enter and on leaving the field.
import { type KeyboardEvent, useId, useState } from "react";
import { TextField } from "../ui/field.tsx";

export interface Suggestion {
  readonly value: string;
  readonly label: string;
  readonly detail?: string | undefined;
}

/** Returns suggestions for a text; null while the field is closed. */
export type UseSuggestions = (text: string | null, tenant: string | undefined) => readonly Suggestion[];

export function SuggestField({
  label,
  value,
  shown = value,
  tenant,
  useSuggestions,
  readText = (text) => text,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  /** The value as the user knows it. */
  readonly shown?: string;
  /** Suggests only what belongs to this tenant. */
  readonly tenant?: string | undefined;
  readonly useSuggestions: UseSuggestions;
  /** The value of a text that is no suggestion; null if it is none. */
  readonly readText?: (text: string) => string | null;
  readonly onChange: (value: string) => void;
}) {
  const listId = useId();
  /** Null while the user does not type. */
  const [typed, setTyped] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState<number | null>(null);
  const suggestions = useSuggestions(isOpen ? (typed ?? "").trim() : null, tenant);
  const close = () => {
    setTyped(null);
    setOpen(false);
    setActive(null);
  };
  const pick = (picked: string) => {
    close();
    if (picked !== value) onChange(picked);
  };
  const commit = () => {
    if (typed === null) return close();
    const text = typed.trim();
    const named = suggestions.filter((one) => one.label === text || one.value === text);
    const picked = text === "" ? "" : named.length === 1 ? named[0]?.value : readText(text);
    if (picked == null) close();
    else pick(picked);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      const chosen = active === null ? undefined : suggestions[active];
      if (chosen === undefined) commit();
      else pick(chosen.value);
    } else if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" && suggestions.length > 0) {
      setOpen(true);
      setActive(active === null ? 0 : Math.min(suggestions.length - 1, active + 1));
    } else if (event.key === "ArrowUp" && active !== null) setActive(active === 0 ? null : active - 1);
    else return;
    event.preventDefault();
  };
  const hasList = isOpen && suggestions.length > 0;
  return (
    <div className="relative min-w-0">
      <TextField
        label={label}
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={hasList}
        aria-controls={listId}
        aria-activedescendant={hasList && active !== null ? `${listId}-${active}` : undefined}
        value={typed ?? shown}
        title={shown}
        onFocus={() => setOpen(true)}
        onBlur={commit}
        onChange={({ target }) => {
          setTyped(target.value);
          setOpen(true);
          setActive(null);
          if (target.value === "" && value !== "") onChange("");
        }}
        onKeyDown={onKeyDown}
      />
      {hasList && (
        <div
          id={listId}
          role="listbox"
          aria-label={label}
          className="absolute top-full right-0 left-0 z-30 mt-1 max-h-80 min-w-48 overflow-y-auto rounded-md border border-line bg-surface p-1 shadow-lg"
        >
          {suggestions.map((one, index) => (
            <div
              key={one.value}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              // the field keeps the focus
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => pick(one.value)}
              onKeyDown={onKeyDown}
              className="cursor-pointer truncate rounded px-2 py-1 hover:bg-raised aria-selected:bg-raised"
            >
              {one.label}
              {one.detail !== undefined && <span className="text-muted"> {one.detail}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
