// The filters of a list and its saved views.
import { useState } from "react";
import { useEndpointLabels } from "../../api/endpoint-labels.ts";
import { useSession } from "../../api/session.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { reasonTexts, stateTexts } from "../../format/delivery-texts.ts";
import { localTime } from "../../format/time.ts";
import { Choice, TextField } from "../ui/field.tsx";
import { SavedViews } from "./saved-views.tsx";

const t = defineTexts({
  filters: ["Filters", "Filter"],
  failing: ["failing", "mit Fehlern"],
  websub: ["WebSub subscriptions", "WebSub-Abonnements"],
  rejected: ["rejected", "abgelehnt"],
});

export const WHICH_ENDPOINTS = ["active", "disabled", "failing", "websub"] as const;

const titles = () => ({
  state: t.state,
  which: t.state,
  event_state: t.state,
  tenant: t.tenant,
  endpoint: t.endpoint,
  type: t.eventType,
  subject: t.subject,
  reason: t.deadReason,
  action: t.action,
  created_after: t.createdAfter,
  created_before: t.createdBefore,
});
export type Field = keyof ReturnType<typeof titles>;

export function FilterBar({ fields }: { readonly fields: readonly Field[] }) {
  const { filters, set } = useFilters();
  const session = useSession().data;
  const tenant = fields.includes("endpoint") ? (session?.tenant ?? filters.tenant) : undefined;
  const labels = useEndpointLabels(tenant) ?? {};
  const names = Object.fromEntries(
    Object.entries(labels).map(([id, { name, url }]) => [id, `${name} · ${url}`]),
  );
  /** Options per field; fields without options are text fields. */
  const choices: { readonly [Name in Field]?: Readonly<Record<string, string>> | undefined } = {
    state: stateTexts,
    which: Object.fromEntries(WHICH_ENDPOINTS.map((name) => [name, t[name]])),
    event_state: { rejected: t.rejected },
    reason: reasonTexts,
    endpoint: tenant === undefined ? undefined : withChosen(names, filters.endpoint),
  };
  return (
    <section aria-label={t.filters} className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-4">
        {fields.map((field) =>
          choices[field] !== undefined ? (
            <Choice
              key={field}
              label={titles()[field]}
              none={t.all}
              options={Object.entries(choices[field])}
              value={filters[field] ?? ""}
              onChange={(event) => set({ [field]: event.target.value })}
            />
          ) : (
            <FilterText
              key={field}
              label={titles()[field]}
              value={filters[field] ?? ""}
              isTime={field.startsWith("created")}
              onChange={(value) => set({ [field]: value })}
            />
          ),
        )}
      </div>
      <SavedViews fields={fields} />
    </section>
  );
}

/** Adds the selected value if it is not an option, for example a deleted endpoint. */
function withChosen(urls: Readonly<Record<string, string>>, selected: string | undefined) {
  return selected === undefined || urls[selected] !== undefined ? urls : { ...urls, [selected]: selected };
}

/** Applies the filter on blur or Enter, not on every key. */
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
