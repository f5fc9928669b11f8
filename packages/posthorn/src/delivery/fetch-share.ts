// How much one fetch brings into memory: many lanes, few rows each, and not many bytes, as far as they can be foreseen. Pure.
import { batchEncodingOf } from "../formats/formats.ts";
import type { Target } from "../model.ts";

// Fewer lanes made API-only latency 52 ms, more rows cost throughput.
const lanesPerFetch = 60;
const rowsPerFetch = 300;
const bytesPerFetch = 16 * 1024 * 1024;

/** `averageBytes`: of the payloads that came last. */
export function lanesToFetchFor(averageBytes: number): number {
  return Math.min(lanesPerFetch, rowsFor(averageBytes));
}

/** Rows for a lane that is one of so many. */
export function rowsToFetch(
  target: Pick<Target, "format" | "batch">,
  { lanes, averageBytes }: { readonly lanes: number; readonly averageBytes: number },
): number {
  const { format, batch } = target;
  // an average of events says nothing of batches, and fifty of them at their longest are 200 MB
  const bytes = batchEncodingOf(format) !== null ? Math.max(averageBytes, batch.maxBytes) : averageBytes;
  return Math.max(1, Math.floor(rowsFor(bytes) / lanes));
}

function rowsFor(bytes: number): number {
  return Math.max(1, Math.min(rowsPerFetch, Math.floor(bytesPerFetch / bytes)));
}
