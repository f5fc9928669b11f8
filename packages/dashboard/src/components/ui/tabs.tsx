// Tabs; the current one is part of the URL.
import { useFilters } from "../../app/filters.ts";

export interface Tab {
  readonly name: string;
  readonly title: string;
}

/** The current tab; the first one by default. */
export function useTab(tabs: readonly Tab[]): string {
  const { filters } = useFilters();
  return tabs.find(({ name }) => name === filters.tab)?.name ?? tabs[0]?.name ?? "";
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const { set } = useFilters();
  const current = useTab(tabs);
  return (
    <nav aria-label={label} className="flex flex-wrap gap-1 border-b border-line">
      {tabs.map(({ name, title }, index) => (
        <button
          key={name}
          type="button"
          aria-current={name === current ? "page" : undefined}
          onClick={() => set({ tab: index === 0 ? undefined : name })}
          className={`-mb-px border-b-2 px-3 py-2 text-sm font-medium ${
            name === current ? "border-accent-ink text-ink" : "border-transparent text-muted hover:text-ink"
          }`}
        >
          {title}
        </button>
      ))}
    </nav>
  );
}
