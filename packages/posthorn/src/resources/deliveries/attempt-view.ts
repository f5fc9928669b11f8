// An attempt as the API returns it, with the duration of each phase.
import { uuidTimeMs } from "@posthorn/wire";
import { REDACTED } from "../../catalogue/redact.ts";
import type { AttemptPhases, Uuid } from "../../model.ts";
import type { AttemptRow } from "../../storage/queries/attempts.ts";
import { toDate } from "../page.ts";

export interface AttemptView
  extends Omit<AttemptRow, keyof AttemptPhases | "startedMs" | "nextRetryMs" | "announcedMs"> {
  /** Null if the worker died: the request may or may not have been sent. */
  readonly startedAt: Date | null;
  readonly nextRetryAt: Date | null;
  readonly phases: AttemptPhases & {
    /** Time since it was due. Null for manual attempts, or if unknown. */
    readonly queueMs: number | null;
    /** Time from the headers to the end of the body. Null without a response. */
    readonly bodyMs: number | null;
  };
}

export function toAttemptView(row: AttemptRow, deliveryId: Uuid): AttemptView {
  const { startedMs, nextRetryMs, announcedMs: _, connectMs, tlsMs, firstByteMs, ...shown } = row;
  return {
    ...shown,
    startedAt: toDate(startedMs),
    nextRetryAt: toDate(nextRetryMs),
    phases: { queueMs: queueMs(row, deliveryId), connectMs, tlsMs, firstByteMs, bodyMs: bodyMs(row) },
  };
}

/** Never negative, although the two times may come from clocks of different processes. */
function queueMs(row: AttemptRow, deliveryId: Uuid): number | null {
  const dueMs = dueAt(row, deliveryId);
  return row.startedMs === null || dueMs === null ? null : Math.max(0, Math.round(row.startedMs - dueMs));
}

function dueAt({ trigger, announcedMs }: AttemptRow, deliveryId: Uuid): number | null {
  if (trigger === "retry") return announcedMs;
  return trigger === "manual" || trigger === "replay" ? null : uuidTimeMs(deliveryId);
}

function bodyMs({ durationMs, connectMs, tlsMs, firstByteMs }: AttemptRow): number | null {
  if (durationMs === null || firstByteMs === null) return null;
  return Math.max(0, durationMs - (connectMs ?? 0) - (tlsMs ?? 0) - firstByteMs);
}

/** Masks the receiver's response. Error descriptions, which Posthorn wrote, stay. */
export function withoutResponse(attempt: AttemptView): AttemptView {
  const hasResponse =
    attempt.responseBody !== null && attempt.responseBody.length > 0 && attempt.error === null;
  return hasResponse ? { ...attempt, responseBody: Buffer.from(REDACTED) } : attempt;
}
