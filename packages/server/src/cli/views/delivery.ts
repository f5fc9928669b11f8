// Terminal output of deliveries and attempts.
import type { Attempt, Delivery, EventDetail } from "@posthorn/client";
import type { Column } from "../terminal/table.ts";
import { clean, distanceText, type Tone, timeText } from "../terminal/text.ts";

const TONES: Readonly<Record<string, Tone>> = { success: "good", failed: "warning", dead: "bad" };

export function toneOfState(state: string): Tone | null {
  return TONES[state] ?? null;
}

/** `dead (rejected)`, `failed, retry in 4 s`, or what holds it. */
export function stateText(
  { state, dead_reason, next_retry_at }: Pick<Delivery, "state" | "dead_reason" | "next_retry_at">,
  now: Date,
  hold: string | null = null,
): string {
  if (dead_reason !== null) return `${state} (${clean(dead_reason)})`;
  if (hold !== null) return `${state}, ${hold}`;
  return next_retry_at === null ? state : `${state}, retry ${distanceText(next_retry_at, now)}`;
}

export function deliveryColumns(
  now: Date,
  holdOf: (delivery: Delivery) => string | null = () => null,
): readonly Column<Delivery>[] {
  return [
    { title: "ID", value: ({ id }) => id },
    {
      title: "STATE",
      value: (delivery) => stateText(delivery, now, holdOf(delivery)),
      tone: ({ state }) => toneOfState(state),
    },
    { title: "ATTEMPTS", value: ({ attempt_count }) => attempt_count },
    { title: "TYPE", value: ({ event_type }) => event_type, canShrink: true },
    { title: "ENDPOINT", value: ({ endpoint_id }) => endpoint_id, canShrink: true },
    { title: "CREATED", value: ({ created_at }) => timeText(created_at), canShrink: true },
  ];
}

/** Text for an event that waits for its batch. */
export function waitsForBatch({ endpoint_id }: EventDetail["batches"][number]): string {
  return `Waiting for the next batch to ${clean(endpoint_id)}.`;
}

export const attemptColumns: readonly Column<Attempt>[] = [
  { title: "ATTEMPT", value: ({ number }) => number },
  { title: "STARTED", value: ({ started_at }) => timeText(started_at) },
  { title: "DURATION", value: ({ duration_ms }) => (duration_ms === null ? null : `${duration_ms} ms`) },
  { title: "PHASES (MS)", value: ({ phases }) => phasesText(phases), canShrink: true },
  {
    title: "RESULT",
    value: ({ status_code, error }) => status_code ?? error,
    tone: ({ status_code }) =>
      status_code !== null && status_code >= 200 && status_code < 300 ? "good" : "bad",
  },
  { title: "TRIGGER", value: ({ trigger }) => trigger },
  { title: "NEXT RETRY", value: ({ next_retry_at }) => timeText(next_retry_at) },
  { title: "RESPONSE", value: ({ response_body }) => response_body?.slice(0, 200), canShrink: true },
];

const PHASES = [
  ["queue", "queue_ms"],
  ["connect", "connect_ms"],
  ["tls", "tls_ms"],
  ["first byte", "first_byte_ms"],
  ["body", "body_ms"],
] as const;

/** `queue 3, connect 1, first byte 20, body 0`, without phases that did not happen. */
function phasesText(phases: Attempt["phases"]): string {
  return PHASES.flatMap(([name, key]) => (phases[key] === null ? [] : [`${name} ${phases[key]}`])).join(", ");
}
