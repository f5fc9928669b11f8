// Suggestions for filters: tenants, endpoints by name and URL, and event types of the catalogue.
import { hostOf } from "@posthorn/wire";
import { keepPreviousData } from "@tanstack/react-query";
import { useApi } from "../../api/use-api.ts";
import type { Suggestion } from "./suggest-field.tsx";

const MAX_SUGGESTIONS = 8;
const FRESH_MS = 60_000;
/** Event types beyond the first page can be typed. */
const MAX_TYPES = 250;

type Text = string | null;

const searchOf = (text: Text) => ({ limit: MAX_SUGGESTIONS, ...(text && { search: text }) });
const optionsOf = (text: Text) => ({
  enabled: text !== null,
  placeholderData: keepPreviousData,
  staleTime: FRESH_MS,
});

export function useTenantSuggestions(text: Text): readonly Suggestion[] {
  const { data } = useApi("tenants.list", { query: searchOf(text) }, optionsOf(text));
  return data?.data.map(({ id, name }) => ({ value: id, label: id, detail: name ?? undefined })) ?? [];
}

export function useEndpointSuggestions(text: Text, tenant: string | undefined): readonly Suggestion[] {
  const query = { ...searchOf(text), ...(tenant !== undefined && { tenant }) };
  const { data } = useApi("endpoints.listAll", { query }, optionsOf(text));
  return (
    data?.data.map(({ id, tenant: owner, name, url }) => ({
      value: id,
      label: name,
      detail: [
        name === hostOf(url) ? new URL(url).pathname : url,
        ...(tenant === undefined ? [owner] : []),
      ].join(" · "),
    })) ?? []
  );
}

/** The name of the endpoint with this id, or the id if it was deleted. */
export function useEndpointTitle(id: string): string {
  const input = { query: { search: id, limit: 1 } };
  const { data } = useApi("endpoints.listAll", input, { enabled: id !== "", staleTime: FRESH_MS });
  return data?.data.find((endpoint) => endpoint.id === id)?.name ?? id;
}

export function useTypeSuggestions(text: Text): readonly Suggestion[] {
  const { data } = useApi("eventTypes.list", { query: { limit: MAX_TYPES } }, optionsOf(text));
  const wanted = (text ?? "").toLowerCase();
  const names = new Set(data?.data.map(({ name }) => name).filter((name) => name.includes(wanted)));
  return [...names].slice(0, MAX_SUGGESTIONS).map((name) => ({ value: name, label: name }));
}
