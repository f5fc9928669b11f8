// The state of a delivery and the outcome of an attempt.
import type { Attempt } from "@posthorn/client";
import { STATES, type State, stateTexts } from "../../format/delivery-texts.ts";
import { Badge } from "../ui/badge.tsx";

export function StateBadge({ state }: { readonly state: State }) {
  return <Badge {...STATES[state]}>{stateTexts[state]}</Badge>;
}

export function OutcomeBadge({
  attempt: { status_code, error },
}: {
  readonly attempt: Pick<Attempt, "status_code" | "error">;
}) {
  const isDelivered = status_code !== null && status_code >= 200 && status_code < 300;
  return (
    <Badge tone={isDelivered ? "ok" : "bad"} icon={isDelivered ? "check" : "warning"}>
      {status_code ?? error}
    </Badge>
  );
}
