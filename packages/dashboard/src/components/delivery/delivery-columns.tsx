// Table columns of deliveries.
import type { Delivery } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { explain, lastErrorKey, reasonTexts } from "../../format/delivery-texts.ts";
import { shortWait } from "../../format/wait-texts.ts";
import type { Column } from "../list/data-table.tsx";
import { EndpointName } from "../ui/links.tsx";
import { Ago, Until } from "../ui/time.tsx";
import { DeliveryState } from "./state-badge.tsx";

const t = defineTexts({
  next: ["Next attempt", "Nächster Versuch"],
  now: ["now", "jetzt"],
  error: ["Last error", "Letzter Fehler"],
  eventId: ["Event id", "Ereignis-ID"],
});

export function deliveryColumns({
  areDead = false,
  isOfOneTenant = false,
} = {}): readonly Column<Delivery>[] {
  const columns: readonly (Column<Delivery> | false)[] = [
    { key: "state", head: t.state, cell: (delivery) => <DeliveryState delivery={delivery} /> },
    {
      key: "type",
      head: t.eventType,
      share: 3,
      cell: ({ event_type }) => <code title={event_type}>{event_type}</code>,
      below: (delivery) => (
        <>
          <span className={areDead ? "lg:hidden" : "sm:hidden"}>
            {areDead ? reasonOf(delivery) : (nextOf(delivery) ?? <Ago at={delivery.created_at} />)}
            {" · "}
          </span>
          <EndpointName name={delivery.endpoint_name} url={delivery.endpoint_url} />
        </>
      ),
    },
    {
      key: "endpoint",
      head: t.endpoint,
      from: "xl",
      share: 4,
      cell: ({ endpoint_name, endpoint_url }) => <EndpointName name={endpoint_name} url={endpoint_url} />,
    },
    !isOfOneTenant && {
      key: "tenant",
      head: t.tenant,
      from: "md",
      share: 2,
      cell: ({ tenant }) => tenant,
    },
    {
      key: "attempts",
      head: t.attempts,
      from: "lg",
      isNumber: true,
      cell: ({ attempt_count }) => attempt_count,
    },
    {
      key: "error",
      head: t.error,
      from: "lg",
      share: 3,
      cell: ({ last_error }) => <LastError error={last_error} />,
    },
    areDead
      ? { key: "reason", head: t.deadReason, from: "lg", cell: reasonOf }
      : { key: "next", head: t.next, from: "lg", cell: (delivery) => nextOf(delivery) ?? "–" },
    { key: "created", head: t.created, from: "sm", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: "subject",
      head: t.subject,
      from: "xl",
      share: 2,
      isExtra: true,
      cell: ({ subject }) => subject ?? "–",
    },
    { key: "id", head: t.id, from: "xl", share: 3, isExtra: true, cell: ({ id }) => <code>{id}</code> },
    {
      key: "event",
      head: t.eventId,
      from: "xl",
      share: 3,
      isExtra: true,
      cell: ({ event_id }) => <code>{event_id}</code>,
    },
  ];
  return columns.filter((column) => column !== false);
}

/** `HTTP 500` and what it means. */
export function LastError({ error }: { readonly error: string | null }) {
  if (error === null) return "–";
  const { what, remedy } = explain(lastErrorKey(error));
  return (
    <span title={`${what}. ${remedy}`}>
      <code>{error}</code> <span className="text-muted">{what}</span>
    </span>
  );
}

function reasonOf({ dead_reason }: Delivery): string {
  return dead_reason === null ? "–" : (reasonTexts[dead_reason] ?? dead_reason);
}

function nextOf({ state, waits_for }: Delivery) {
  if (waits_for === null) return state === "failed" ? t.now : null;
  const what = shortWait(waits_for);
  if (waits_for.until === null) return what;
  return (
    <>
      {what} <Until at={waits_for.until} />
    </>
  );
}
