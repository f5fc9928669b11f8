// An attempt as people see it, and where its time went.
import { uuidTimeMs } from "@posthorn/wire";
import { REDACTED } from "../../catalogue/redact.ts";
import type { AttemptPhases, AttemptTrigger, Uuid } from "../../model.ts";
import type { AttemptRow } from "../../storage/queries/attempts/list.ts";

export interface AttemptView {
  readonly number: number;
  /** Null where the worker died: it may or may not have been sent. */
  readonly startedAt: Date | null;
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  /** The first 1 KB as it came, or what went wrong in words. */
  readonly responseBody: Buffer | null;
  readonly nextRetryAt: Date | null;
  readonly trigger: AttemptTrigger;
  readonly worker: number;
  readonly phases: AttemptPhases & {
    /** From when it was due; null where somebody asked for it, or nobody knows. */
    readonly queueMs: number | null;
    /** From the headers to the end of the body; null where no answer came. */
    readonly bodyMs: number | null;
  };
}

export function toAttemptView(row: AttemptRow, deliveryId: Uuid): AttemptView {
  const { startedMs, nextRetryMs, announcedMs: _, connectMs, tlsMs, firstByteMs, ...shown } = row;
  return {
    ...shown,
    startedAt: toDate(startedMs),
    nextRetryAt: toDate(nextRetryMs),
    phases: {
      queueMs: queueMs(row, deliveryId),
      connectMs,
      tlsMs,
      firstByteMs,
      bodyMs: bodyMs(row),
    },
  };
}

/** The two times may be of different processes: none began before it was due. */
function queueMs(row: AttemptRow, deliveryId: Uuid): number | null {
  const dueMs = dueAt(row, deliveryId);
  return row.startedMs === null || dueMs === null ? null : Math.max(0, Math.round(row.startedMs - dueMs));
}

function dueAt({ trigger, announcedMs }: AttemptRow, deliveryId: Uuid): number | null {
  if (trigger === "retry") return announcedMs;
  return trigger === "event" || trigger === "test" ? uuidTimeMs(deliveryId) : null;
}

function bodyMs({ durationMs, connectMs, tlsMs, firstByteMs }: AttemptRow): number | null {
  if (durationMs === null || firstByteMs === null) return null;
  return Math.max(0, durationMs - (connectMs ?? 0) - (tlsMs ?? 0) - firstByteMs);
}

/** What went wrong in our own words stays. */
export function withoutAnswer(attempt: AttemptView): AttemptView {
  const isAnswer = attempt.responseBody !== null && attempt.responseBody.length > 0 && attempt.error === null;
  return isAnswer ? { ...attempt, responseBody: Buffer.from(REDACTED) } : attempt;
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
