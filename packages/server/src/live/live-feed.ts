// Streams changes to open dashboard and portal pages. Each tenant with open pages is polled once a second, less often when
// there are many, regardless of the number of pages. Streams hold no important state: a page that reconnects sends the
// time of its last message, and any process can continue.
import type { ServerResponse } from "node:http";
import { contract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { HttpError } from "../api/http-error.ts";
import { onRequestEnd } from "../api/on-request-end.ts";
import { present } from "../api/present.ts";
import type { Principal } from "../api/principal.ts";
import { ChangeFinder, type Changes, changesSince, SNAPSHOT_SIZE, type Snapshot } from "./changes.ts";

/** A single tenant cannot use all streams, because its customers can open any number of sessions. */
export const LIVE_LIMITS = {
  streams: 500,
  perTenant: 100,
  perSessionOrKey: 20,
  unreadBytes: 256 * 1024,
} as const;
const POLL_INTERVAL_MS = 1_000;
/** A poll takes two statements of about a millisecond; a process makes at most 50 polls a second. */
const MS_PER_POLL = 20;
/** Shorter than the idle timeout of proxies. Each heartbeat checks the authorization again. */
const HEARTBEAT_MS = 15_000;
/** Ids are ordered by time and not by commit, so a short period is sent again; pages deduplicate by id. */
const OVERLAP_MS = 5_000;
/** A page that was disconnected for longer reloads its list. */
const MAX_BACKFILL_MS = 300_000;

export interface Subscriber {
  readonly response: ServerResponse;
  readonly principal: Principal;
  /** Time of the last change the page has seen; null means from now on. */
  readonly since: Date | null;
  /** Throws if the subscriber is no longer authorized. */
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

  /** Throws if too many streams are open. Called before the response begins. */
  checkLimits(caller: Principal): void {
    const { streams, perTenant, perSessionOrKey } = LIVE_LIMITS;
    const subscribers = [...this.#scopes.values()].flatMap((scope) => [...scope.subscribers]);
    const own = subscribers.filter(({ principal }) => sessionOrKey(principal) === sessionOrKey(caller));
    const ofTenant = this.#scopes.get(caller.tenant)?.subscribers.size ?? 0;
    const isWithinTenantLimit = caller.tenant === null || ofTenant < perTenant;
    if (isWithinTenantLimit && subscribers.length < streams && own.length < perSessionOrKey) return;
    throw new HttpError(
      "too_many_streams",
      `The limits of open streams are ${perSessionOrKey} per session or key, ${perTenant} per tenant and ${streams} in total. Close some, or try again in a moment.`,
      { headers: { "Retry-After": "5" } },
    );
  }

  /** Adds a subscriber whose response headers have been sent. */
  async open(subscriber: Subscriber): Promise<void> {
    const { response, principal, since } = subscriber;
    const beat = setInterval(() => void this.#heartbeat(subscriber), this.#heartbeatMs);
    onRequestEnd({ request: response.req, response }, () => {
      clearInterval(beat);
      this.#remove(subscriber);
    });
    const scope = this.#scopeOf(principal.tenant);
    scope.subscribers.add(subscriber);
    // the first poll is at once: later ones are compared with it, so that no change after the opening is missed
    if (scope.timer === undefined) this.#schedulePoll(scope, 0);
    response.write(`retry: 2000\n${heartbeat()}`);
    if (since !== null) await this.#backFill(subscriber, since).catch(() => {});
  }

  #scopeOf(tenant: string | null): Scope {
    const known = this.#scopes.get(tenant);
    if (known !== undefined) return known;
    const openedAt = new Date(Date.now() - POLL_INTERVAL_MS);
    const created: Scope = {
      tenant,
      openedAt,
      finder: new ChangeFinder(),
      subscribers: new Set(),
      timer: undefined,
    };
    this.#scopes.set(tenant, created);
    return created;
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
      // the database is unavailable: the next poll includes what happened meanwhile
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

/** Several people may have signed in with the same key, so sessions are counted separately. */
function sessionOrKey({ session, id }: Principal): string | null {
  return session?.id ?? id;
}

/** Returns the poll interval of each tenant for the number of polled tenants. */
export function pollIntervalMs(tenants: number): number {
  return Math.max(POLL_INTERVAL_MS, tenants * MS_PER_POLL);
}

/** Contains the server time, so that a page with a wrong clock resumes at the right place. */
function heartbeat(): string {
  return message("heartbeat", "{}");
}

const deliverySchema = contract.deliveries.retry.response.schema;
/** The schema of an event without the fields that only its detail needs. */
const eventSchema = contract.events.get.response.schema.pick({
  id: true,
  tenant: true,
  type: true,
  api_version: true,
  subject: true,
  sequence: true,
  created_at: true,
});

function messageOf({ deliveries, events, isPartial }: Changes): string {
  const changes = {
    deliveries: deliveries.map((delivery) => present(deliverySchema, delivery)),
    events: events.map((event) => present(eventSchema, event)),
    is_partial: isPartial,
  };
  return message("changes", JSON.stringify(changes));
}

function message(event: string, data: string): string {
  return `id: ${Date.now()}\nevent: ${event}\ndata: ${data}\n\n`;
}

/** Disconnects a subscriber that does not read; it reconnects and resumes. */
function send({ response }: Subscriber, text: string): void {
  if (response.writableLength > LIVE_LIMITS.unreadBytes) response.destroy();
  else response.write(text);
}
