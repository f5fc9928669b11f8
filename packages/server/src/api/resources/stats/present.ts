import type { Stats } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["stats"]["get"]>>;
type Count = Given["now"]["pending"];

/** Deliveries in numbers as the API shows them. */
export function presentStats({ now, ended }: Given): Sent<Stats> {
  return {
    now: {
      pending: presentCount(now.pending),
      in_flight: presentCount(now.inFlight),
      failed: presentCount(now.failed),
      dead: presentCount(now.dead),
    },
    ended: {
      since: ended.since,
      success: presentCount(ended.success),
      dead: presentCount(ended.dead),
      success_rate: ended.successRate,
      latency_ms: ended.latencyMs,
    },
  };
}

function presentCount({ count, isExact }: Count): Stats["now"]["pending"] {
  return { count, is_exact: isExact };
}
