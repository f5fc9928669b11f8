// Named filters stored in this browser. Selecting a view applies its filters to the URL.
import { useState } from "react";
import { readStored, writeStored } from "../../app/browser-storage.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { Button } from "../ui/button.tsx";
import { submitted } from "../ui/field.tsx";
import { showToast } from "../ui/toasts.tsx";

const t = defineTexts({
  views: ["Saved views", "Gespeicherte Ansichten"],
  saveView: ["Save view", "Ansicht speichern"],
  rename: ["Rename view {name}", "Ansicht {name} umbenennen"],
  name: ["View name", "Name der Ansicht"],
  remove: ["Delete view {name}", "Ansicht {name} löschen"],
  removed: ["View {name} deleted.", "Ansicht {name} gelöscht."],
});

const MAX_VIEWS = 20;

type Views = Readonly<Record<string, Filters>>;

/** Views are stored per list. */
export function SavedViews({ fields }: { readonly fields: readonly string[] }) {
  const storageKey = `posthorn-views:${location.pathname}`;
  const { filters, set } = useFilters();
  const withoutFilters = Object.fromEntries(fields.map((field) => [field, undefined]));
  const [views, setViews] = useState(() => readViews(storageKey));
  /** The view being named; `of` is null for a new one. */
  const [naming, setNaming] = useState<{ readonly of: string | null } | null>(null);
  const change = (next: (now: Views) => Views) =>
    setViews((now) => {
      const changed = next(now);
      writeStored(storageKey, changed);
      return changed;
    });
  const name = (title: string) => {
    const former = naming?.of ?? null;
    setNaming(null);
    if (title === "" || title === former) return;
    change((now) => {
      if (former === null) return { ...now, [title]: filters };
      // keeps its position and replaces another view of that name
      const others = Object.entries(now).filter(([other]) => other !== title);
      return Object.fromEntries(others.map(([other, view]) => [other === former ? title : other, view]));
    });
  };
  const remove = (title: string) => {
    change((now) => Object.fromEntries(Object.entries(now).filter(([other]) => other !== title)));
    // a view saved under that name in the meantime stays
    showToast(t.removed({ name: title }), {
      undo: () => change((now) => ({ [title]: views[title] as Filters, ...now })),
    });
  };
  const hasFilters = Object.keys(filters).length > 0;
  if (!hasFilters && Object.keys(views).length === 0) return null;
  return (
    <fieldset className="flex flex-wrap items-center gap-2" aria-label={t.views}>
      {Object.entries(views).map(([title, view]) =>
        naming?.of === title ? (
          <NameForm key={title} initial={title} onName={name} onCancel={() => setNaming(null)} />
        ) : (
          <span key={title} className="inline-flex max-w-full items-center rounded-md border border-line">
            <Button
              kind="quiet"
              className="min-w-0 aria-pressed:text-ink"
              aria-pressed={isSame(view, filters)}
              onClick={() => set({ ...withoutFilters, ...view })}
            >
              <span className="truncate">{title}</span>
            </Button>
            <Button
              kind="quiet"
              icon="more"
              aria-label={t.rename({ name: title })}
              onClick={() => setNaming({ of: title })}
            />
            <Button
              kind="quiet"
              icon="close"
              aria-label={t.remove({ name: title })}
              onClick={() => remove(title)}
            />
          </span>
        ),
      )}
      {hasFilters && naming === null && Object.keys(views).length < MAX_VIEWS && (
        <Button kind="quiet" icon="plus" onClick={() => setNaming({ of: null })}>
          {t.saveView}
        </Button>
      )}
      {naming?.of === null && <NameForm initial="" onName={name} onCancel={() => setNaming(null)} />}
    </fieldset>
  );
}

function NameForm({
  initial,
  onName,
  onCancel,
}: {
  readonly initial: string;
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}) {
  const [name, setName] = useState(initial);
  return (
    <form className="flex gap-2" onSubmit={submitted(async () => onName(name.trim()))}>
      <input
        aria-label={t.name}
        placeholder={t.name}
        // biome-ignore lint/a11y/noAutofocus: the field appears because the user asked to name the view
        autoFocus
        maxLength={40}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onCancel()}
        className="rounded-md border border-line bg-surface px-2 py-1"
      />
      <Button type="submit">{t.save}</Button>
    </form>
  );
}

function isSame(view: Filters, filters: Filters): boolean {
  const names = new Set([...Object.keys(view), ...Object.keys(filters)]);
  return [...names].every((name) => view[name] === filters[name]);
}

/** Ignores stored values that are not views. */
function readViews(key: string): Views {
  const kept = Object.entries(readStored(key) ?? {});
  return Object.fromEntries(kept.filter(([, view]) => typeof view === "object" && view !== null));
}
