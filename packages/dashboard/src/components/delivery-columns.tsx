// How a delivery looks in every list of deliveries.
import type { Delivery } from "@posthorn/client";
import { defineTexts, useTexts } from "../app/texts.ts";
import type { Column } from "./data-table.tsx";
import { StateBadge } from "./state-badge.tsx";
import { Ago } from "./time.tsx";

const texts = defineTexts({
  en: {
    state: "State",
    type: "Event",
    tenant: "Tenant",
    attempts: "Attempts",
    next: "Next attempt",
    reason: "Dead because",
    created: "Created",
  },
  de: {
    state: "Zustand",
    type: "Ereignis",
    tenant: "Mandant",
    attempts: "Versuche",
    next: "Nächster Versuch",
    reason: "Aufgegeben wegen",
    created: "Angelegt",
  },
});

export function useDeliveryColumns({
  areDead = false,
  isOfOneTenant = false,
} = {}): readonly Column<Delivery>[] {
  const t = useTexts(texts);
  const columns: readonly (Column<Delivery> | false)[] = [
    { key: "state", head: t.state, cell: ({ state }) => <StateBadge state={state} /> },
    {
      key: "type",
      head: t.type,
      cell: ({ event_type }) => <code className="font-mono text-xs">{event_type}</code>,
    },
    !isOfOneTenant && { key: "tenant", head: t.tenant, from: "md", cell: ({ tenant }) => tenant },
    {
      key: "attempts",
      head: t.attempts,
      from: "sm",
      isNumber: true,
      cell: ({ attempt_count }) => attempt_count,
    },
    areDead
      ? { key: "reason", head: t.reason, from: "sm", cell: ({ dead_reason }) => dead_reason ?? "–" }
      : {
          key: "next",
          head: t.next,
          from: "lg",
          cell: ({ next_retry_at }) => (next_retry_at === null ? "–" : <Ago at={next_retry_at} />),
        },
    { key: "created", head: t.created, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return columns.filter((column) => column !== false);
}
