// A receiver that answers by what is in the event, and remembers for each path and subject in which order events came
// and whether one came while another was open.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Arrival {
  readonly path: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly attempt: number;
  readonly sender: string;
}

export interface OrderReceiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Arrivals that found another of their path and subject still open. */
  readonly overlaps: readonly Arrival[];
  /** The status for an arrival, or a promise of it. 200 unless told. */
  answer: (arrival: Arrival) => number | Promise<number>;
  /** Sequences at a path, in the order of arrival; all subjects unless told. */
  sequences(path: string, subject?: string): (number | null)[];
  /** `path subject: 5 after 6`, wherever an event came after a later one of its subject. */
  disorder(): string[];
  until(what: string, condition: () => boolean, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startOrderReceiver(): Promise<OrderReceiver> {
  const arrivals: Arrival[] = [];
  const overlaps: Arrival[] = [];
  const open = new Map<string, number>();
  const watchers = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { subject = null, sequence = null } = JSON.parse(String(Buffer.concat(chunks)));
      const { headers, url: path = "" } = request;
      const arrival: Arrival = {
        path,
        subject,
        sequence,
        eventId: String(headers["x-webhook-id"]),
        deliveryId: String(headers["x-webhook-delivery-id"]),
        attempt: Number(headers["x-webhook-attempt"]),
        sender: String(headers["user-agent"]),
      };
      void take(arrival, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const receiver: OrderReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    overlaps,
    answer: () => 200,
    sequences: (path, subject) =>
      arrivals
        .filter((arrival) => arrival.path === path && (subject === undefined || arrival.subject === subject))
        .map((arrival) => arrival.sequence),
    disorder() {
      const last = new Map<string, number>();
      return arrivals.flatMap(({ path, subject, sequence }) => {
        if (subject === null || sequence === null) return [];
        const before = last.get(placeOf({ path, subject })) ?? 0;
        last.set(placeOf({ path, subject }), sequence);
        return before > sequence ? [`${path} ${subject}: ${sequence} after ${before}`] : [];
      });
    },
    until(what, condition, timeoutMs = 20_000) {
      if (condition()) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(watcher);
          reject(new Error(`waited ${timeoutMs} ms in vain for: ${what} (${arrivals.length} arrivals)`));
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
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return receiver;

  async function take(arrival: Arrival, response: ServerResponse): Promise<void> {
    arrivals.push(arrival);
    const place = placeOf(arrival);
    if (arrival.subject !== null && (open.get(place) ?? 0) > 0) overlaps.push(arrival);
    open.set(place, (open.get(place) ?? 0) + 1);
    response.once("close", () => {
      open.set(place, (open.get(place) as number) - 1);
      look();
    });
    look();
    const status = await receiver.answer(arrival);
    if (!response.destroyed) response.writeHead(status).end();
  }

  function look(): void {
    for (const watcher of watchers) watcher();
  }
}

const placeOf = ({ path, subject }: Pick<Arrival, "path" | "subject">): string => `${path} ${subject}`;
