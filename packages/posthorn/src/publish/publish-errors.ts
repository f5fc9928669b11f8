// Errors for a publisher whose event was not stored, or may not have been.
import { formatId } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { Event, Uuid } from "../model.ts";

export function conflictError({ attributes }: Event, key: string, firstEventId: Uuid): PosthornError {
  const first = formatId("evt", firstEventId);
  const { source, id } = attributes ?? {};
  return new PosthornError(
    "idempotency_conflict",
    source === undefined || id === undefined
      ? `The idempotency key "${key}" was used for another event (${first}); use a new key for new content.`
      : `The source "${source}" and id "${id}" are those of another event (${first}); use a new id for new content.`,
  );
}

export function unavailableError(cause?: unknown): PosthornError {
  return new PosthornError(
    "database_unavailable",
    "The database did not store the event in time; an open transaction may hold its subject or its idempotency key. " +
      "It may be stored or not: publish again with the same idempotency key.",
    { cause },
  );
}

export function stoppedError(): PosthornError {
  return new PosthornError(
    "stopped",
    "This Posthorn was stopped and accepts no more events; publish elsewhere, or after the restart.",
  );
}
