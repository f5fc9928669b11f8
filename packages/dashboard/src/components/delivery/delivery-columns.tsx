// Table columns of deliveries.
import type { Delivery } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { reasonTexts } from "../../format/delivery-texts.ts";
import { shortWait } from "../../format/wait-texts.ts";
import type { Column } from "../list/data-table.tsx";
import { EndpointName } from "../ui/links.tsx";
import { Ago, Until } from "../ui/time.tsx";
import { DeliveryState } from "./state-badge.tsx";

const t = defineTexts({
  next: ["Next attempt", "Nächster Versuch"],
  now: ["now", "jetzt"],
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
      // at 1280 px the other columns need the rest
      cell: ({ event_type }) => (
        <code title={event_type} className="block truncate font-mono text-xs xl:max-w-40 2xl:max-w-none">
          {event_type}
        </code>
      ),
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
      cell: ({ endpoint_name, endpoint_url }) => (
        <div className="truncate xl:max-w-44 2xl:max-w-none">
          <EndpointName name={endpoint_name} url={endpoint_url} />
        </div>
      ),
    },
    !isOfOneTenant && { key: "tenant", head: t.tenant, from: "md", cell: ({ tenant }) => tenant },
    {
      key: "attempts",
      head: t.attempts,
      from: "lg",
      isNumber: true,
      cell: ({ attempt_count }) => attempt_count,
    },
    areDead
      ? { key: "reason", head: t.deadReason, from: "lg", cell: reasonOf }
      : { key: "next", head: t.next, from: "lg", cell: (delivery) => nextOf(delivery) ?? "–" },
    { key: "created", head: t.created, from: "sm", cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return columns.filter((column) => column !== false);
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
