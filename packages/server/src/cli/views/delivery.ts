// Terminal output of deliveries and attempts.
import type { Attempt, Delivery, EventDetail } from "@posthorn/client";
import type { Column } from "../terminal/table.ts";
import { clean, type Tone, timeText } from "../terminal/text.ts";
import { waitText } from "./wait.ts";

const TONES: Readonly<Record<string, Tone>> = { success: "good", failed: "warning", dead: "bad" };

export function toneOfState(state: string): Tone | null {
  return TONES[state] ?? null;
}

/** `dead (rejected)`, `failed, retry in 4 s` or `pending, held: the endpoint is disabled`. */
export function stateText(
  delivery: Pick<Delivery, "state" | "dead_reason" | "waits_for">,
  now: Date,
): string {
  const { state, dead_reason } = delivery;
  if (dead_reason !== null) return `${state} (${clean(dead_reason)})`;
  const wait = waitText(delivery, now);
  return wait === null ? state : `${state}, ${wait}`;
}

/** Says what becomes of a delivery after a manual retry; its attempt may have begun or ended already. */
export function retriedText(
  delivery: Pick<Delivery, "state" | "dead_reason" | "waits_for">,
  now: Date,
): string {
  const wait = waitText(delivery, now);
  if (delivery.state === "in_flight" && wait === null) return "is being sent";
  // a retry makes it pending, so an attempt has ended since
  if (delivery.state !== "pending" && delivery.state !== "in_flight")
    return `was sent: ${stateText(delivery, now)}`;
  if (wait === null) return "is due now and will be sent by the next free worker";
  // a manual retry brings the probe forward, unless one is in flight
  if (delivery.waits_for?.reason === "circuit" && delivery.waits_for.until === null)
    return "will be sent as the endpoint's next probe, or after the one in flight";
  return `will be retried; ${wait}`;
}

export function deliveryColumns(now: Date): readonly Column<Delivery>[] {
  return [
    { title: "ID", value: ({ id }) => id },
    {
      title: "STATE",
      value: (delivery) => stateText(delivery, now),
      tone: ({ state }) => toneOfState(state),
    },
    { title: "ATTEMPTS", value: ({ attempt_count }) => attempt_count },
    { title: "TYPE", value: ({ event_type }) => event_type, canShrink: true },
    { title: "ENDPOINT", value: ({ endpoint_name }) => endpoint_name, canShrink: true },
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
  { title: "RETRY SCHEDULED FOR", value: ({ next_retry_at }) => timeText(next_retry_at) },
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
