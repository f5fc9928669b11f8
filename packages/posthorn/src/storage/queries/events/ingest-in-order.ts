// Stores events of which some are delivered in order. Whether an earlier delivery is unfinished can be read only after
// their subjects are locked, so this takes two statements in one transaction, which is rolled back if the second writes
// nothing.
import type { Event } from "../../../model.ts";
import type { Database } from "../../database.ts";
import { type IngestBatch, type IngestResult, ingest, toSubjectEvent } from "./ingest.ts";
import { type Numbered, numberEvents } from "./number.ts";

export async function ingestInOrder(db: Database, batch: IngestBatch): Promise<IngestResult> {
  const events = batch.events.filter((event) => event.subject !== null);
  try {
    return await db.transaction(async (tx) => {
      const numbered = await numberEvents(tx, batch.keys, events.map(toSubjectEvent));
      const result = await ingest(tx, withNumbers(batch, events, numbered));
      if (!result.written) throw new NothingWritten(result);
      return { ...result, refusedEventIds: numbered.refusedEventIds };
    });
  } catch (error) {
    if (error instanceof NothingWritten) return error.result;
    throw error;
  }
}

function withNumbers(batch: IngestBatch, numbered: readonly Event[], numbers: Numbered): IngestBatch {
  const refused = new Set(numbers.refusedEventIds);
  const sequences = new Map(numbered.map((event, index) => [event.id, numbers.sequences[index] as number]));
  return {
    ...batch,
    keys: [],
    events: batch.events
      .filter((event) => !refused.has(event.id))
      .map((event) => ({ ...event, sequence: sequences.get(event.id) ?? null })),
    deliveries: batch.deliveries.filter((delivery) => !refused.has(delivery.eventId)),
    collected: batch.collected.filter((event) => !refused.has(event.eventId)),
  };
}

class NothingWritten extends Error {
  readonly result: IngestResult;

  constructor(result: IngestResult) {
    super("nothing was written");
    this.result = result;
  }
}
