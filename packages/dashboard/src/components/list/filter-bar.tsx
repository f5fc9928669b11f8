// The filters of a list and its saved views. All filters are in the URL. On a phone they are behind a button.
import { useId, useState } from "react";
import { useSession } from "../../api/session.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { reasonTexts, stateTexts } from "../../format/delivery-texts.ts";
import { Button } from "../ui/button.tsx";
import { Choice } from "../ui/field.tsx";
import { SavedViews } from "./saved-views.tsx";
import { SuggestField, type Suggestion, type UseSuggestions } from "./suggest-field.tsx";
import {
  useEndpointSuggestions,
  useEndpointTitle,
  useTenantSuggestions,
  useTypeSuggestions,
} from "./suggestions.ts";
import { TimeFilter } from "./time-filter.tsx";

const t = defineTexts({
  filters: ["Filters", "Filter"],
  set: ["Filters ({count})", "Filter ({count})"],
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
});
type Titled = keyof ReturnType<typeof titles>;
/** `created`: a preset or two times. */
export type Field = Titled | "created";

const TIMES = ["since", "created_after", "created_before"];

export function FilterBar({ fields }: { readonly fields: readonly Field[] }) {
  const { filters, set } = useFilters();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const names = fields.flatMap((field) => (field === "created" ? TIMES : field));
  const count = names.filter((name) => filters[name] !== undefined).length;
  return (
    <section aria-label={t.filters} className="flex flex-col gap-3">
      <Button
        className="justify-center sm:hidden"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {count === 0 ? t.filters : t.set({ count })}
      </Button>
      <div
        id={id}
        className={`${isOpen ? "" : "max-sm:hidden"} grid grid-cols-1 gap-3 sm:grid-cols-3 lg:grid-cols-4 xl:grid-cols-6`}
      >
        {fields.map((field) =>
          field === "created" ? (
            <TimeFilter key={field} filters={filters} onChange={set} />
          ) : (
            <FilterField
              key={field}
              field={field}
              value={filters[field] ?? ""}
              tenant={filters.tenant}
              onChange={(value) => set({ [field]: value })}
            />
          ),
        )}
      </div>
      <SavedViews fields={names} />
    </section>
  );
}

interface FilterFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterField({
  field,
  tenant,
  ...props
}: FilterFieldProps & { readonly field: Titled; readonly tenant: string | undefined }) {
  const label = titles()[field];
  const options: { readonly [Name in Titled]?: Readonly<Record<string, string>> } = {
    state: stateTexts,
    which: Object.fromEntries(WHICH_ENDPOINTS.map((name) => [name, t[name]])),
    event_state: { rejected: t.rejected },
    reason: reasonTexts,
  };
  if (options[field] !== undefined)
    return (
      <Choice
        label={label}
        none={t.all}
        options={Object.entries(options[field])}
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
      />
    );
  if (field === "endpoint") return <EndpointField label={label} tenant={tenant} {...props} />;
  return <SuggestField label={label} useSuggestions={SUGGESTIONS[field] ?? useNone} {...props} />;
}

const NONE: readonly Suggestion[] = [];
const useNone = () => NONE;
const SUGGESTIONS: { readonly [Name in Titled]?: UseSuggestions } = {
  tenant: useTenantSuggestions,
  type: useTypeSuggestions,
};

/** Shows the name of the endpoint whose id is the value. */
function EndpointField({
  label,
  tenant,
  value,
  onChange,
}: FilterFieldProps & { readonly label: string; readonly tenant: string | undefined }) {
  const ownTenant = useSession().data?.tenant;
  return (
    <SuggestField
      label={label}
      value={value}
      shown={useEndpointTitle(value)}
      tenant={ownTenant ?? tenant}
      useSuggestions={useEndpointSuggestions}
      readText={(text) => (text.startsWith("ep_") ? text : null)}
      onChange={onChange}
    />
  );
}
