// How much one fetch brings into memory: many lanes, few rows each, and a limited number of bytes as far as they can
// be estimated. Pure.
import { batchEncodingOf } from "../formats/formats.ts";
import type { Target } from "../model.ts";

// With fewer lanes the latency of API-only processes was 52 ms; more rows reduced throughput.
const lanesPerFetch = 60;
const rowsPerFetch = 300;
const bytesPerFetch = 16 * 1024 * 1024;

/** `averageBytes` is the average size of recent payloads. */
export function lanesToFetchFor(averageBytes: number): number {
  return Math.min(lanesPerFetch, rowsFor(averageBytes));
}

/** Returns how many rows to fetch for one of `lanes` lanes. */
export function rowsToFetch(
  target: Pick<Target, "format" | "batch">,
  { lanes, averageBytes }: { readonly lanes: number; readonly averageBytes: number },
): number {
  const { format, batch } = target;
  // the average of single events does not apply to batches: fifty of the largest are 200 MB
  const bytes = batchEncodingOf(format) !== null ? Math.max(averageBytes, batch.maxBytes) : averageBytes;
  return Math.max(1, Math.floor(rowsFor(bytes) / lanes));
}

function rowsFor(bytes: number): number {
  return Math.max(1, Math.min(rowsPerFetch, Math.floor(bytesPerFetch / bytes)));
}
