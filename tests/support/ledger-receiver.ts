// A receiver that writes down every request: whose it was, when it came, when it was answered, and how many were open
// at once for each path. What a killed sender had open ends with its sockets.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LedgerEntry {
  readonly path: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly sender: string;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** When the 2xx was written in full to a connection that was still open; null before that, or never. */
  answeredAt: number | null;
  /** The sender went away before it got its answer. */
  isBroken: boolean;
}

export interface LedgerReceiver {
  readonly url: string;
  readonly entries: readonly LedgerEntry[];
  /** The most requests that were ever open at once for one path. */
  readonly maxOpen: ReadonlyMap<string, number>;
  /** How long the next answers take. */
  answerAfterMs: () => number;
  /** Requests for which this holds are kept open until they are let go of. `release()` ends holding altogether. */
  hold: (entry: LedgerEntry) => boolean;
  release(which?: (entry: LedgerEntry) => boolean): void;
  /** Resolves as soon as the condition holds; looked at whenever a request comes or ends. Rejects when too late. */
  until(what: string, condition: () => boolean, timeoutMs?: number): Promise<void>;
  answered(deliveryId: string): readonly LedgerEntry[];
  /** Events that were answered 2xx at this path. */
  eventsAt(path: string): ReadonlySet<string>;
  close(): Promise<void>;
}

export async function startLedgerReceiver(): Promise<LedgerReceiver> {
  const entries: LedgerEntry[] = [];
  const byDelivery = new Map<string, LedgerEntry[]>();
  const eventsByPath = new Map<string, Set<string>>();
  const maxOpen = new Map<string, number>();
  const open = new Map<string, number>();
  const held = new Map<LedgerEntry, () => void>();
  const watchers = new Set<() => void>();

  const server = createServer((request, response) => {
    request.resume();
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("end", () => take(request, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const receiver: LedgerReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    entries,
    maxOpen,
    answerAfterMs: () => 0,
    hold: () => false,
    release(which) {
      if (which === undefined) receiver.hold = () => false;
      for (const [entry, answer] of held) {
        if (which?.(entry) === false) continue;
        held.delete(entry);
        answer();
      }
    },
    until,
    answered: (deliveryId) => (byDelivery.get(deliveryId) ?? []).filter((entry) => entry.answeredAt !== null),
    eventsAt: (path) => eventsByPath.get(path) ?? new Set(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return receiver;

  function take(request: IncomingMessage, response: ServerResponse): void {
    const entry = read(request);
    entries.push(entry);
    byDelivery.set(entry.deliveryId, [...(byDelivery.get(entry.deliveryId) ?? []), entry]);
    const now = (open.get(entry.path) ?? 0) + 1;
    open.set(entry.path, now);
    maxOpen.set(entry.path, Math.max(now, maxOpen.get(entry.path) ?? 0));
    response.once("close", () => {
      open.set(entry.path, (open.get(entry.path) as number) - 1);
      entry.isBroken = entry.answeredAt === null;
      look();
    });
    const answer = () => {
      if (response.destroyed) return;
      response.writeHead(200).end(() => {
        entry.answeredAt = performance.now();
        eventsByPath.set(entry.path, (eventsByPath.get(entry.path) ?? new Set()).add(entry.eventId));
      });
    };
    if (receiver.hold(entry)) held.set(entry, answer);
    else setTimeout(answer, receiver.answerAfterMs());
    look();
  }

  function look(): void {
    for (const watcher of watchers) watcher();
  }

  function until(what: string, condition: () => boolean, timeoutMs = 40_000): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        watchers.delete(watcher);
        reject(new Error(`waited ${timeoutMs} ms in vain for: ${what} (${entries.length} requests so far)`));
      }, timeoutMs);
      const watcher = () => {
        if (!condition()) return;
        clearTimeout(timer);
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
    });
  }
}

function read({ url = "", headers }: IncomingMessage): LedgerEntry {
  return {
    path: url,
    eventId: String(headers["x-webhook-id"]),
    deliveryId: String(headers["x-webhook-delivery-id"]),
    attempt: Number(headers["x-webhook-attempt"]),
    sender: String(headers["user-agent"]),
    arrivedAt: performance.now(),
    answeredAt: null,
    isBroken: false,
  };
}
