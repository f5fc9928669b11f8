// The state of a delivery and the outcome of an attempt.
import type { Attempt } from "@posthorn/client";
import { STATES, type State, stateTexts } from "../../format/delivery-texts.ts";
import { Badge } from "../ui/badge.tsx";

export function StateBadge({ state }: { readonly state: State }) {
  return <Badge {...STATES[state]}>{stateTexts[state]}</Badge>;
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
