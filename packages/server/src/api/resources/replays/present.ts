import type { Replay } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["replays"]["get"]>>;

/** A replay as the API shows it. */
export function presentReplay(replay: Given): Sent<Replay> {
  return {
    id: replay.id,
    tenant: replay.tenant,
    endpoint: replay.endpoint,
    type: replay.type,
    states: replay.states,
    reason: replay.reason,
    created_after: replay.createdAfter,
    created_before: replay.createdBefore,
    resubscribe: replay.resubscribe,
    rate: replay.rate,
    requested_by: replay.requestedBy,
    state: replay.state,
    total: replay.total,
    done: replay.done,
    skipped: replay.skipped,
    created_at: replay.createdAt,
    ended_at: replay.endedAt,
  };
}
