// What happens, as it happens, for pages that are open. However many there are, each tenant is looked at once a second
// (less often when many are), and nobody when no page is open. A stream holds no state that matters: whoever lost one says when it was, and goes on
// at any process.
import type { ServerResponse } from "node:http";
import { contract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { HttpError } from "../api/http-error.ts";
import { onRequestEnd } from "../api/on-request-end.ts";
import { present } from "../api/present.ts";
import type { Principal } from "../api/principal.ts";
import { ChangeFinder, type Changes, changesSince, SNAPSHOT_SIZE, type Snapshot } from "./changes.ts";

/** One tenant has not all of them: its customers can open as many sessions as they like. */
export const LIVE_LIMITS = {
  streams: 500,
  perTenant: 100,
  perSessionOrKey: 20,
  unreadBytes: 256 * 1024,
} as const;
const POLL_INTERVAL_MS = 1_000;
/** A look takes two statements of about a millisecond: a process makes 50 a second at most, whoever has pages open. */
const MS_PER_POLL = 20;
/** Proxies close what is silent for longer; and whoever may not look any more is shown out. */
const HEARTBEAT_MS = 15_000;
/** Ids are in the order of time and not of commits: a little of what was seen comes again, and is known by its id. */
const OVERLAP_MS = 5_000;
/** A page that was away for longer had better load its list anew. */
const MAX_BACKFILL_MS = 300_000;

export interface Subscriber {
  readonly response: ServerResponse;
  readonly principal: Principal;
  /** Of the last change that was seen; null: from now on. */
  readonly since: Date | null;
  /** Throws when they may not look any more. */
  readonly reauthorize: () => Promise<void>;
}

interface Scope {
  readonly tenant: string | null;
  readonly openedAt: Date;
  readonly finder: ChangeFinder;
  readonly subscribers: Set<Subscriber>;
  timer: NodeJS.Timeout | undefined;
}

export class LiveFeed {
  readonly #hooks: Posthorn;
  readonly #isDraining: () => boolean;
  readonly #heartbeatMs: number;
  readonly #scopes = new Map<string | null, Scope>();

  constructor(hooks: Posthorn, isDraining: () => boolean, heartbeatMs: number = HEARTBEAT_MS) {
    this.#hooks = hooks;
    this.#isDraining = isDraining;
    this.#heartbeatMs = heartbeatMs;
  }

  /** Before anything is answered: throws when there are too many. */
  checkLimits(asking: Principal): void {
    const { streams, perTenant, perSessionOrKey } = LIVE_LIMITS;
    const subscribers = [...this.#scopes.values()].flatMap((scope) => [...scope.subscribers]);
    const own = subscribers.filter(({ principal }) => sessionOrKey(principal) === sessionOrKey(asking));
    const ofTenant = this.#scopes.get(asking.tenant)?.subscribers.size ?? 0;
    const isWithinTenantLimit = asking.tenant === null || ofTenant < perTenant;
    if (isWithinTenantLimit && subscribers.length < streams && own.length < perSessionOrKey) return;
    throw new HttpError(
      "too_many_streams",
      `At most ${perSessionOrKey} streams of one session or key are open at a time, ${perTenant} of one tenant, and ${streams} in all. Close some, or try again in a moment.`,
      { headers: { "Retry-After": "5" } },
    );
  }

  /** The head of the answer is out already. */
  async open(subscriber: Subscriber): Promise<void> {
    const { response, principal, since } = subscriber;
    const beat = setInterval(() => void this.#heartbeat(subscriber), this.#heartbeatMs);
    onRequestEnd({ request: response.req, response }, () => {
      clearInterval(beat);
      this.#remove(subscriber);
    });
    const scope = this.#scopeOf(principal.tenant);
    scope.subscribers.add(subscriber);
    if (scope.timer === undefined) this.#schedulePoll(scope, pollIntervalMs(this.#scopes.size));
    response.write(`retry: 2000\n${heartbeat()}`);
    if (since !== null) await this.#backFill(subscriber, since).catch(() => {});
  }

  #scopeOf(tenant: string | null): Scope {
    const known = this.#scopes.get(tenant);
    if (known !== undefined) return known;
    const openedAt = new Date(Date.now() - POLL_INTERVAL_MS);
    const made: Scope = {
      tenant,
      openedAt,
      finder: new ChangeFinder(),
      subscribers: new Set(),
      timer: undefined,
    };
    this.#scopes.set(tenant, made);
    return made;
  }

  #remove(subscriber: Subscriber): void {
    const scope = this.#scopeOf(subscriber.principal.tenant);
    scope.subscribers.delete(subscriber);
    if (scope.subscribers.size > 0) return;
    clearTimeout(scope.timer);
    this.#scopes.delete(scope.tenant);
  }

  #schedulePoll(scope: Scope, ms: number): void {
    scope.timer = setTimeout(() => void this.#poll(scope), ms);
  }

  async #poll(scope: Scope): Promise<void> {
    if (this.#isDraining()) {
      for (const { response } of scope.subscribers) response.end();
      return;
    }
    try {
      const changes = scope.finder.compare(await this.#newest(scope.tenant), scope.openedAt);
      if (changes.deliveries.length > 0 || changes.events.length > 0) {
        const text = messageOf(changes);
        for (const subscriber of scope.subscribers) send(subscriber, text);
      }
    } catch {
      // the database is away: the next look tells of what happened meanwhile
    }
    if (scope.subscribers.size > 0) this.#schedulePoll(scope, pollIntervalMs(this.#scopes.size));
  }

  async #newest(tenant: string | null): Promise<Snapshot> {
    const query = { limit: SNAPSHOT_SIZE, ...(tenant !== null && { tenant }) };
    const events = await this.#hooks.events.newest(query);
    const { data, nextCursor } = await this.#hooks.deliveries.list(query);
    return { events, deliveries: data, hasOlder: nextCursor !== null };
  }

  async #backFill(subscriber: Subscriber, since: Date): Promise<void> {
    const furthest = Date.now() - MAX_BACKFILL_MS;
    const from = new Date(Math.max(since.getTime() - OVERLAP_MS, furthest));
    const missed = changesSince(await this.#newest(subscriber.principal.tenant), from, new Date(furthest));
    const isPartial = missed.isPartial || since.getTime() < furthest;
    if (missed.deliveries.length > 0 || missed.events.length > 0 || isPartial) {
      send(subscriber, messageOf({ ...missed, isPartial }));
    }
  }

  async #heartbeat({ response, reauthorize }: Subscriber): Promise<void> {
    try {
      await reauthorize();
      response.write(heartbeat());
    } catch {
      response.end();
    }
  }
}

/** Many people may have signed in by one key. */
function sessionOrKey({ session, id }: Principal): string | null {
  return session?.id ?? id;
}

/** Of each tenant that anybody looks at, when so many are looked at. */
export function pollIntervalMs(tenants: number): number {
  return Math.max(POLL_INTERVAL_MS, tenants * MS_PER_POLL);
}

/** With the time as this server has it: a page whose clock is wrong goes on where it was all the same. */
function heartbeat(): string {
  return message("here", "{}");
}

const deliverySchema = contract.deliveries.retry.answer.schema;
/** The schema of an event without the fields that only its detail needs. */
const eventSchema = contract.events.get.answer.schema.pick({
  id: true,
  tenant: true,
  type: true,
  api_version: true,
  subject: true,
  sequence: true,
  created_at: true,
});

function messageOf({ deliveries, events, isPartial }: Changes): string {
  const told = {
    deliveries: deliveries.map((delivery) => present(deliverySchema, delivery)),
    events: events.map((event) => present(eventSchema, event)),
    is_partial: isPartial,
  };
  return message("changes", JSON.stringify(told));
}

function message(event: string, data: string): string {
  return `id: ${Date.now()}\nevent: ${event}\ndata: ${data}\n\n`;
}

/** Who does not read is cut off: they come back, and say what they saw last. */
function send({ response }: Subscriber, text: string): void {
  if (response.writableLength > LIVE_LIMITS.unreadBytes) response.destroy();
  else response.write(text);
}
