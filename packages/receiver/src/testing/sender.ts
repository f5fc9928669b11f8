// A sender that produces duplicates, concurrent, late, changed and reordered deliveries on purpose.
import { rejectUnknownOptions } from "../options.ts";
import { type AttemptState, nextAttempt } from "./retries.ts";
import type { PosthornWebhook } from "./sign-posthorn.ts";
import { hasIdHeader, type VendorWebhook } from "./sign-vendor.ts";
import { requestOf, signedWebhook } from "./signed-request.ts";
import { newId, type SignedWebhook, type WebhookOptions } from "./signed-webhook.ts";

export interface SenderOptions extends Pick<WebhookOptions, "secret" | "url" | "headers"> {
  /** `receiver.fetch`, your Hono app's `app.fetch`, or `fetch` itself with the `url` of a running server. */
  readonly receive: (request: Request) => Response | Promise<Response>;
  /** Default: the system clock, with retries that do not wait. */
  readonly clock?: SenderClock;
  /** The gaps between the attempts of `deliver`. Default: Posthorn's, 1, 5 and 15 minutes, 1 and 6 hours. */
  readonly retryGapsMs?: readonly number[];
}

const senderOptionNames = [
  "secret",
  "url",
  "headers",
  "receive",
  "clock",
  "retryGapsMs",
] as const satisfies (keyof SenderOptions)[];

/** Pass it to the receiver as well, so that both use the same clock; `createTestClock()` creates one. */
export interface SenderClock {
  now(): Date;
  wait(ms: number): Promise<void>;
}

/** A clock that moves only when advanced. */
export interface TestClock extends SenderClock {
  advance(ms: number): void;
}

/** Starts at `start`, by default now. Only `advance` and a sender's waits move it. */
export function createTestClock(start: Date = new Date()): TestClock {
  let nowMs = start.getTime();
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { now: () => new Date(nowMs), advance, wait: async (ms) => advance(ms) };
}

/** The options of `signedRequest`. Without an id, each call sends a new event. */
export type EventToSend =
  | Omit<PosthornWebhook, "secret" | "timestamp" | "attempt">
  | Omit<VendorWebhook, "secret" | "timestamp">;

export interface Attempt {
  readonly sent: SignedWebhook;
  readonly sentAt: Date;
  /** Null if there was no response; then `error` is set. */
  readonly status: number | null;
  readonly headers: Headers;
  readonly body: string;
  readonly error?: unknown;
  /** The receiver had handled the event before. */
  readonly isDuplicate: boolean;
  readonly retryAfterSeconds: number | null;
}

export interface Delivery {
  /** `dead`: Posthorn would not send it again. */
  readonly outcome: "delivered" | "dead";
  readonly attempts: readonly Attempt[];
}

export interface Sender {
  /** Sends it once. */
  send(event: EventToSend): Promise<Attempt>;
  /** Sends the same event several times, each after the response to the previous one. Default: twice. */
  duplicate(event: EventToSend, times?: number): Promise<Attempt[]>;
  /** Sends the same event several times in parallel. Default: twice. */
  atOnce(event: EventToSend, times?: number): Promise<Attempt[]>;
  /** Flips one bit of the body after signing: in the byte at `position`, by default in the middle. */
  tamper(event: EventToSend, position?: number): Promise<Attempt>;
  /** Signs with a timestamp this many seconds ago. Default 301, one more than receivers allow. Negative: in the future. */
  late(event: EventToSend, seconds?: number): Promise<Attempt>;
  /** Sends the events in an order that depends only on the seed. Returns the attempts in that order. */
  scrambled(events: readonly EventToSend[], seed?: number): Promise<Attempt[]>;
  /** Retries as Posthorn would: until a 2xx, or until the delivery is dead. */
  deliver(event: EventToSend): Promise<Delivery>;
}

export function createSender(options: SenderOptions): Sender {
  if ("vendor" in options) {
    throw new TypeError(
      'createSender has no `vendor`. It belongs to the event, as in send({ vendor: "stripe", payload }).',
    );
  }
  rejectUnknownOptions("createSender", options, senderOptionNames);
  const { receive, clock = timeOfDay, retryGapsMs, ...shared } = options;
  if (typeof receive !== "function") {
    throw new TypeError("createSender needs `receive`: receiver.fetch, or fetch with the `url` of a server.");
  }

  const signed = (event: EventToSend, ageSeconds = 0, attempt = 1) => {
    const timestamp = new Date(clock.now().getTime() - ageSeconds * 1_000);
    const options = { ...shared, timestamp };
    return signedWebhook("vendor" in event ? { ...options, ...event } : { ...options, ...event, attempt });
  };
  const deliverOnce = async (sent: SignedWebhook): Promise<Attempt> => {
    const sentAt = clock.now();
    try {
      return await readResponse(sent, sentAt, await receive(requestOf(sent)));
    } catch (error) {
      const nothing = { status: null, headers: new Headers(), body: "", isDuplicate: false };
      return { sent, sentAt, ...nothing, retryAfterSeconds: null, error };
    }
  };
  const send = async (event: EventToSend, attempt = 1) => deliverOnce(await signed(event, 0, attempt));

  return {
    send: (event) => send(event),

    async duplicate(event, times = 2) {
      const same = repeatable(event);
      const attempts: Attempt[] = [];
      while (attempts.length < times) attempts.push(await send(same, attempts.length + 1));
      return attempts;
    },

    async atOnce(event, times = 2) {
      const same = repeatable(event);
      const sent = await Promise.all(Array.from({ length: times }, () => signed(same)));
      return Promise.all(sent.map(deliverOnce));
    },

    async tamper(event, position) {
      const sent = await signed(event);
      return deliverOnce({ ...sent, body: withBitChanged(sent.body, position) });
    },

    late: async (event, seconds = 301) => deliverOnce(await signed(event, seconds)),

    async scrambled(events, seed = 1) {
      const attempts: Attempt[] = [];
      for (const event of shuffled(events, seed)) attempts.push(await send(event));
      return attempts;
    },

    async deliver(event) {
      const same = repeatable(event);
      const attempts: Attempt[] = [];
      let state: AttemptState = { attempts: 0, failures: 0, waitedMs: 0 };
      for (;;) {
        const attempt = await send(same, attempts.length + 1);
        const next = nextAttempt(attempt.status, attempt.retryAfterSeconds, state, retryGapsMs);
        attempts.push(attempt);
        if (next.kind !== "retry") return { outcome: next.kind, attempts };
        await clock.wait(next.afterMs);
        state = {
          attempts: attempts.length,
          failures: state.failures + (next.isFailure ? 1 : 0),
          waitedMs: state.waitedMs + next.afterMs,
        };
      }
    },
  };
}

/** Gives all deliveries one id, unless the vendor has it in the body, which is the same each time. */
function repeatable(event: EventToSend): EventToSend {
  return "vendor" in event && !hasIdHeader(event.vendor) ? event : { id: newId(), ...event };
}

const timeOfDay: SenderClock = { now: () => new Date(), wait: async () => {} };

async function readResponse(sent: SignedWebhook, sentAt: Date, response: Response): Promise<Attempt> {
  const { status, headers } = response;
  const seconds = headers.get("retry-after");
  return {
    sent,
    sentAt,
    status,
    headers,
    body: await response.text(),
    isDuplicate: headers.get("posthorn-duplicate") === "true",
    retryAfterSeconds: seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) : null,
  };
}

function withBitChanged(body: Uint8Array, position: number = body.length >> 1): Uint8Array<ArrayBuffer> {
  const changed = Uint8Array.from(body);
  const byte = changed[position];
  if (byte === undefined) throw new RangeError(`The body has ${body.length} bytes, none at ${position}.`);
  changed[position] = byte ^ 1;
  return changed;
}

/** Fisher–Yates with a seeded generator (mulberry32), so that a failing order can be reproduced. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const order = [...items];
  let state = seed;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  for (let last = order.length - 1; last > 0; last--) {
    const other = below(last + 1);
    [order[last], order[other]] = [order[other] as Item, order[last] as Item];
  }
  return order;
}
