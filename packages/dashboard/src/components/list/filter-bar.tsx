// The filters of a list, and the views that somebody saved of it.
import { useState } from "react";
import { useEndpointUrls } from "../../api/endpoint-urls.ts";
import { useSession } from "../../api/session.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { reasonTexts, stateTexts } from "../../format/delivery-words.ts";
import { localTime } from "../../format/time.ts";
import { Choice, TextField } from "../ui/field.tsx";
import { SavedViews } from "./saved-views.tsx";

const texts = defineTexts({
  en: {
    filters: "Filters",
    state: "State",
    which: "Which",
    active: "active",
    disabled: "disabled",
    failing: "failing",
    websub: "WebSub subscriptions",
    all: "all",
    tenant: "Tenant",
    endpoint: "Endpoint",
    type: "Event type",
    subject: "Subject",
    reason: "Dead because",
    action: "Operation",
    after: "Created after",
    before: "Created before",
  },
  de: {
    filters: "Filter",
    state: "Zustand",
    which: "Welche",
    active: "aktive",
    disabled: "abgeschaltete",
    failing: "mit Fehlern",
    websub: "WebSub-Abonnements",
    all: "alle",
    tenant: "Mandant",
    endpoint: "Endpunkt",
    type: "Ereignistyp",
    subject: "Gegenstand",
    reason: "Aufgegeben wegen",
    action: "Operation",
    after: "Angelegt nach",
    before: "Angelegt vor",
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
  /** What there is to choose from; a field without is typed. */
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
        keptAs={`posthorn-views:${location.pathname}`}
        filters={filters}
        onChoose={(view) =>
          onChange({ ...Object.fromEntries(fields.map((field) => [field, undefined])), ...view })
        }
      />
    </section>
  );
}

/** One that is none of them any more, such as a deleted endpoint of a link, is shown as it stands in the address. */
function withChosen(urls: Readonly<Record<string, string>>, chosen: string | undefined) {
  return chosen === undefined || urls[chosen] !== undefined ? urls : { ...urls, [chosen]: chosen };
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
