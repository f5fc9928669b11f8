// Redacted paths of an event: for a batch those of every member, and all of data that is not JSON.
import { ownTypeOf } from "@posthorn/wire";
import { BATCH_TYPE, type Event } from "../model.ts";
import { redactEvent } from "./redact.ts";

/** Redacted paths of a type; for a null version those of all versions. */
export type RedactedPaths = (type: string, apiVersion: string | null) => readonly string[];

export function redactedPathsOf(event: Event, redactedPaths: RedactedPaths): readonly string[] {
  if (event.type === BATCH_TYPE) return redactedPathsOfBatch(event, redactedPaths);
  const paths = redactedPaths(event.type, event.apiVersion);
  return paths.length > 0 && event.attributes?.encoding !== undefined ? [WHOLE] : paths;
}

const WHOLE = "";

export function redactedEvent(event: Event, redactedPaths: RedactedPaths): Event {
  const paths = redactedPathsOf(event, redactedPaths);
  return paths.length === 0 ? event : redactEvent(event, paths);
}

function redactedPathsOfBatch({ payload }: Event, redactedPaths: RedactedPaths): string[] {
  const members = JSON.parse(Buffer.from(payload).toString("utf8")) as readonly Record<string, unknown>[];
  return members.flatMap(({ type, apiversion }, index) => {
    const version = typeof apiversion === "string" ? apiversion : "1";
    const paths = redactedPaths(ownTypeOf(String(type)), version);
    if (paths.length === 0) return [];
    return [`/${index}/data_base64`, ...paths.map((path) => `/${index}/data${path}`)];
  });
}
