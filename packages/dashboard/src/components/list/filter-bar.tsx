// The filters of a list and its saved views.
import { useState } from "react";
import { useEndpointUrls } from "../../api/endpoint-urls.ts";
import { useSession } from "../../api/session.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { reasonTexts, stateTexts } from "../../format/delivery-texts.ts";
import { localTime } from "../../format/time.ts";
import { Choice, TextField } from "../ui/field.tsx";
import { SavedViews } from "./saved-views.tsx";

const texts = defineTexts({
  en: {
    filters: "Filters",
    state: "State",
    which: "State",
    active: "active",
    disabled: "disabled",
    failing: "failing",
    websub: "WebSub subscriptions",
    all: "all",
    tenant: "Tenant",
    endpoint: "Endpoint",
    type: "Event type",
    subject: "Subject",
    reason: "Dead reason",
    action: "Action",
    after: "Created after",
    before: "Created before",
  },
  de: {
    filters: "Filter",
    state: "Status",
    which: "Status",
    active: "aktiv",
    disabled: "deaktiviert",
    failing: "mit Fehlern",
    websub: "WebSub-Abonnements",
    all: "alle",
    tenant: "Mandant",
    endpoint: "Endpunkt",
    type: "Ereignistyp",
    subject: "Subject",
    reason: "Fehlergrund",
    action: "Aktion",
    after: "Erstellt nach",
    before: "Erstellt vor",
  },
});

export const WHICH_ENDPOINTS = ["active", "disabled", "failing", "websub"] as const;

export type Field =
  | "state"
  | "which"
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
  const reasons = useTexts(reasonTexts);
  const session = useSession().data;
  const tenant = fields.includes("endpoint") ? (session?.tenant ?? filters.tenant) : undefined;
  const urls = useEndpointUrls(tenant);
  /** Options per field; fields without options are text fields. */
  const choices: { readonly [Name in Field]?: Readonly<Record<string, string>> | undefined } = {
    state: states,
    which: Object.fromEntries(WHICH_ENDPOINTS.map((name) => [name, t[name]])),
    reason: reasons,
    endpoint: tenant === undefined ? undefined : withChosen(urls ?? {}, filters.endpoint),
  };
  const labels: Record<Field, string> = { ...t, created_after: t.after, created_before: t.before };
  return (
    <section aria-label={t.filters} className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-7">
        {fields.map((field) =>
          choices[field] !== undefined ? (
            <Choice
              key={field}
              label={labels[field]}
              value={filters[field] ?? ""}
              onChange={(event) => onChange({ [field]: event.target.value })}
            >
              <option value="">{t.all}</option>
              {Object.entries(choices[field]).map(([value, word]) => (
                <option key={value} value={value}>
                  {word}
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
        storageKey={`posthorn-views:${location.pathname}`}
        filters={filters}
        onChoose={(view) =>
          onChange({ ...Object.fromEntries(fields.map((field) => [field, undefined])), ...view })
        }
      />
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
