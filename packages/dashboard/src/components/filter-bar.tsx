// The filters of a list, and views that somebody saved in this browser.
import { useState } from "react";
import { keep, readKept } from "../app/browser-storage.ts";
import type { Filters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { STATES, stateTexts } from "../format/delivery-words.ts";
import { Button } from "./button.tsx";
import { Choice, TextField } from "./field.tsx";

const texts = defineTexts({
  en: {
    filters: "Filters",
    state: "State",
    all: "all",
    tenant: "Tenant",
    endpoint: "Endpoint",
    type: "Event type",
    subject: "Subject",
    reason: "Dead because",
    action: "Operation",
    after: "Created after",
    before: "Created before",
    views: "Saved views",
    save: "Save this view",
    name: "Name of the view",
    remove: (name: string) => `Remove the view ${name}`,
  },
  de: {
    filters: "Filter",
    state: "Zustand",
    all: "alle",
    tenant: "Mandant",
    endpoint: "Endpunkt",
    type: "Ereignistyp",
    subject: "Gegenstand",
    reason: "Aufgegeben wegen",
    action: "Operation",
    after: "Angelegt nach",
    before: "Angelegt vor",
    views: "Gespeicherte Ansichten",
    save: "Ansicht speichern",
    name: "Name der Ansicht",
    remove: (name: string) => `Ansicht ${name} entfernen`,
  },
});

type Field =
  | "state"
  | "tenant"
  | "endpoint"
  | "type"
  | "subject"
  | "reason"
  | "action"
  | "created_after"
  | "created_before";

export function FilterBar({
  filters,
  onChange,
  fields,
}: {
  readonly filters: Filters;
  readonly onChange: (change: Filters) => void;
  readonly fields: readonly Field[];
}) {
  const t = useTexts(texts);
  const states = useTexts(stateTexts);
  const labels: Record<Field, string> = { ...t, created_after: t.after, created_before: t.before };
  return (
    <section aria-label={t.filters} className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-7">
        {fields.map((field) =>
          field === "state" ? (
            <Choice
              key={field}
              label={t.state}
              value={filters.state ?? ""}
              onChange={(event) => onChange({ state: event.target.value })}
            >
              <option value="">{t.all}</option>
              {Object.keys(STATES).map((state) => (
                <option key={state} value={state}>
                  {states[state as keyof typeof states]}
                </option>
              ))}
            </Choice>
          ) : (
            <FilterText
              key={field}
              label={labels[field]}
              value={filters[field] ?? ""}
              isTime={field.startsWith("created")}
              onChange={(value) => onChange({ [field]: value })}
            />
          ),
        )}
      </div>
      <SavedViews
        keptAs={`posthorn-views:${location.pathname}`}
        filters={filters}
        onChoose={(view) =>
          onChange({ ...Object.fromEntries(fields.map((field) => [field, undefined])), ...view })
        }
      />
    </section>
  );
}

/** Takes effect when it is left or Enter is pressed: every letter would ask the server. */
function FilterText({
  label,
  value,
  isTime,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly isTime: boolean;
  readonly onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const commit = () => {
    if (typed === null) return;
    const text = typed.trim();
    setTyped(null);
    onChange(isTime && text !== "" ? new Date(text).toISOString() : text);
  };
  return (
    <TextField
      label={label}
      type={isTime ? "datetime-local" : "text"}
      value={typed ?? (isTime ? localTime(value) : value)}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
}

/** As the browser's own field writes it. */
function localTime(iso: string): string {
  if (iso === "") return "";
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const MOST_VIEWS = 20;

function SavedViews({
  keptAs,
  filters,
  onChoose,
}: {
  /** Each list has its own. */
  readonly keptAs: string;
  readonly filters: Filters;
  readonly onChoose: (view: Filters) => void;
}) {
  const t = useTexts(texts);
  const [views, setViews] = useState(() => readViews(keptAs));
  const [name, setName] = useState<string | null>(null);
  const change = (next: Readonly<Record<string, Filters>>) => {
    setViews(next);
    keep(keptAs, next);
  };
  const hasFilters = Object.keys(filters).length > 0;
  if (!hasFilters && Object.keys(views).length === 0) return null;
  return (
    <fieldset className="flex flex-wrap items-center gap-2" aria-label={t.views}>
      {Object.entries(views).map(([title, view]) => (
        <span key={title} className="inline-flex items-center rounded-md border border-line">
          <Button kind="quiet" onClick={() => onChoose(view)}>
            {title}
          </Button>
          <Button
            kind="quiet"
            icon="close"
            aria-label={t.remove(title)}
            onClick={() =>
              change(Object.fromEntries(Object.entries(views).filter(([other]) => other !== title)))
            }
          />
        </span>
      ))}
      {hasFilters && name === null && Object.keys(views).length < MOST_VIEWS && (
        <Button kind="quiet" icon="plus" onClick={() => setName("")}>
          {t.save}
        </Button>
      )}
      {name !== null && (
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== "") change({ ...views, [name.trim()]: filters });
            setName(null);
          }}
        >
          <input
            aria-label={t.name}
            placeholder={t.name}
            maxLength={40}
            value={name}
            onChange={(event) => setName(event.target.value)}
            className="rounded-md border border-line bg-surface px-2 py-1"
          />
          <Button type="submit">{t.save}</Button>
        </form>
      )}
    </fieldset>
  );
}

function readViews(key: string): Readonly<Record<string, Filters>> {
  return (readKept(key) ?? {}) as Record<string, Filters>;
}
