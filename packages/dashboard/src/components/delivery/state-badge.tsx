// The state of a delivery and the outcome of an attempt.
import type { Attempt, Delivery } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { STATES, type State, stateTexts } from "../../format/delivery-texts.ts";
import { Badge } from "../ui/badge.tsx";

const t = defineTexts({});

export function StateBadge({ state }: { readonly state: State }) {
  return <Badge {...STATES[state]}>{stateTexts[state]}</Badge>;
}

/** Marks a delivery of an edited copy, too. */
export function DeliveryState({
  delivery: { state, edited_from },
}: {
  readonly delivery: Pick<Delivery, "state" | "edited_from">;
}) {
  return (
    <span className="inline-flex flex-wrap items-center gap-1 align-top">
      <StateBadge state={state} />
      {edited_from !== null && <Badge tone="plain">{t.edited}</Badge>}
    </span>
  );
}

type Outcome = Pick<Attempt, "status_code" | "error">;

export function OutcomeBadge({ attempt }: { readonly attempt: Outcome }) {
  const { status_code, error } = attempt;
  return (
    <Badge tone={isDelivered(attempt) ? "ok" : "bad"} icon={isDelivered(attempt) ? "check" : "warning"}>
      {status_code === null ? error : `HTTP ${status_code}`}
    </Badge>
  );
}

export function isDelivered({ status_code }: Outcome): boolean {
  return status_code !== null && status_code >= 200 && status_code < 300;
}
