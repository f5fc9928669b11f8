// Creates the deliveries of events that callers committed in their own transactions. The poller wakes it, because NOTIFY
// in the caller's transaction would take a database-wide lock at commit.
import type { Logger } from "../observe/log.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import type { Queryable } from "../storage/database.ts";
import { waitingEvents } from "../storage/queries/outbox.ts";
import type { FanOut } from "./fan-out.ts";

export interface RelayOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly fanOut: FanOut;
  readonly onLostReply: () => void;
}

const batch = { events: 500, bytes: 8 * 1024 * 1024 };

export function createRelay({ db, logger, fanOut, onLostReply }: RelayOptions): Loop {
  return new Loop({ name: "relaying", intervalMs: POLLED_MS, logger, step: relay });

  async function relay(): Promise<boolean> {
    const waiting = await waitingEvents(db, batch);
    if (waiting.length === 0) return false;
    const events = waiting.slice(0, await fanOut.fit(waiting));
    try {
      const { refused } = await fanOut.run({ events, keys: [], fromOutbox: true });
      // if all were refused, another worker is relaying them: do not race it
      return refused.size < events.length;
    } catch (error) {
      onLostReply();
      throw error;
    }
  }
}
