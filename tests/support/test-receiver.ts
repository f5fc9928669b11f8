// A receiver that records every request: its sender, when it arrived and was answered, what was open at the same time,
// and the order of events within a subject. Requests of a killed sender end with its sockets.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Arrival {
  readonly path: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly attempt: number;
  readonly sender: string;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** When a 2xx was written in full to a connection that was still open; null before that, or never. */
  answeredAt: number | null;
  /** The sender closed the connection before it got its answer. */
  isBroken: boolean;
}

export interface TestReceiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Arrivals during which another request of their path and subject was open. */
  readonly overlaps: readonly Arrival[];
  /** The most requests that were ever open at once for one path. */
  readonly maxOpen: ReadonlyMap<string, number>;
  /** Returns the status for an arrival. Default 200. */
  answer: (arrival: Arrival) => number | Promise<number>;
  /** Milliseconds that the next answers take. */
  answerAfterMs: () => number;
  /** Requests for which this returns true stay open until `release`, which without a condition also stops holding. */
  hold: (arrival: Arrival) => boolean;
  release(which?: (arrival: Arrival) => boolean): void;
  /** Resolves when the condition holds, which is checked whenever a request arrives or ends. */
  until(what: string, condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Requests of this delivery that were answered 2xx. */
  answered(deliveryId: string): readonly Arrival[];
  /** Events that were answered 2xx at this path. */
  eventsAt(path: string): ReadonlySet<string>;
  /** Sequences at a path, in the order of arrival. Default: of all subjects. */
  sequences(path: string, subject?: string): (number | null)[];
  /** `path subject: 5 after 6` for each event that arrived after a later one of its subject. */
  disorder(): string[];
  close(): Promise<void>;
}

export async function startTestReceiver(): Promise<TestReceiver> {
  const arrivals: Arrival[] = [];
  const overlaps: Arrival[] = [];
  const byDelivery = new Map<string, Arrival[]>();
  const eventsByPath = new Map<string, Set<string>>();
  const maxOpen = new Map<string, number>();
  const openByPath = new Map<string, number>();
  const openBySubject = new Map<string, number>();
  const held = new Map<Arrival, () => void>();
  const watchers = new Set<() => void>();

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => take(toArrival(request, String(Buffer.concat(chunks))), response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const receiver: TestReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    overlaps,
    maxOpen,
    answer: () => 200,
    answerAfterMs: () => 0,
    hold: () => false,
    release(which) {
      if (which === undefined) receiver.hold = () => false;
      for (const [arrival, answer] of held) {
        if (which?.(arrival) === false) continue;
        held.delete(arrival);
        answer();
      }
    },
    until(what, condition, timeoutMs = 40_000) {
      if (condition()) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(watcher);
          reject(new Error(`Waited ${timeoutMs} ms for: ${what} (${arrivals.length} requests so far)`));
        }, timeoutMs);
        const watcher = () => {
          if (!condition()) return;
          clearTimeout(timer);
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
      });
    },
    answered: (deliveryId) =>
      (byDelivery.get(deliveryId) ?? []).filter(({ answeredAt }) => answeredAt !== null),
    eventsAt: (path) => eventsByPath.get(path) ?? new Set(),
    sequences: (path, subject) =>
      arrivals
        .filter((arrival) => arrival.path === path && (subject === undefined || arrival.subject === subject))
        .map(({ sequence }) => sequence),
    disorder() {
      const last = new Map<string, number>();
      return arrivals.flatMap(({ path, subject, sequence }) => {
        if (subject === null || sequence === null) return [];
        const key = `${path} ${subject}`;
        const before = last.get(key) ?? 0;
        last.set(key, sequence);
        return before > sequence ? [`${key}: ${sequence} after ${before}`] : [];
      });
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return receiver;

  function take(arrival: Arrival, response: ServerResponse): void {
    const { path, subject, deliveryId } = arrival;
    arrivals.push(arrival);
    byDelivery.set(deliveryId, [...(byDelivery.get(deliveryId) ?? []), arrival]);
    maxOpen.set(path, Math.max(add(openByPath, path, 1), maxOpen.get(path) ?? 0));
    const key = `${path} ${subject}`;
    if (add(openBySubject, key, 1) > 1 && subject !== null) overlaps.push(arrival);
    response.once("close", () => {
      add(openByPath, path, -1);
      add(openBySubject, key, -1);
      arrival.isBroken = !response.writableFinished;
      check();
    });
    const afterMs = receiver.answerAfterMs();
    const answer = () => void respond(arrival, response);
    if (receiver.hold(arrival)) held.set(arrival, answer);
    else if (afterMs > 0) setTimeout(answer, afterMs);
    else answer();
    check();
  }

  async function respond(arrival: Arrival, response: ServerResponse): Promise<void> {
    const status = await receiver.answer(arrival);
    if (response.destroyed) return;
    response.writeHead(status).end(() => {
      if (status >= 300) return;
      arrival.answeredAt = performance.now();
      const events = eventsByPath.get(arrival.path) ?? new Set();
      eventsByPath.set(arrival.path, events.add(arrival.eventId));
    });
  }

  function check(): void {
    for (const watcher of watchers) watcher();
  }
}

function add(counts: Map<string, number>, key: string, more: number): number {
  const count = (counts.get(key) ?? 0) + more;
  counts.set(key, count);
  return count;
}

function toArrival({ url = "", headers }: IncomingMessage, body: string): Arrival {
  const { subject = null, sequence = null } = JSON.parse(body);
  return {
    path: url,
    eventId: String(headers["x-webhook-id"]),
    deliveryId: String(headers["x-webhook-delivery-id"]),
    subject,
    sequence,
    attempt: Number(headers["x-webhook-attempt"]),
    sender: String(headers["user-agent"]),
    arrivedAt: performance.now(),
    answeredAt: null,
    isBroken: false,
  };
}
