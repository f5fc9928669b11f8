// What happens, as it happens, for pages that are open. However many there are, each tenant is looked at once a second
// (less often when many are), and nobody when no page is open. A stream holds no state that matters: whoever lost one says when it was, and goes on
// at any process.
import type { ServerResponse } from "node:http";
import type { Posthorn } from "posthorn";
import { HttpError } from "../api/http-error.ts";
import type { Principal } from "../api/principal.ts";
import { presentDelivery } from "../api/resources/deliveries/present.ts";
import { presentUnwanted } from "../api/resources/events/present.ts";
import { whenOver } from "../api/when-over.ts";
import { ChangeFinder, type Changes, changesSince, LOOK_AT, type Look } from "./changes.ts";

/** One tenant has not all of them: its customers can open as many sessions as they like. */
export const LIVE_LIMITS = {
  streams: 500,
  ofOneTenant: 100,
  ofOneSessionOrKey: 20,
  unreadBytes: 256 * 1024,
} as const;
const LOOK_EVERY_MS = 1_000;
/** A look takes two statements of about a millisecond: a process makes 50 a second at most, whoever has pages open. */
const MS_A_LOOK = 20;
/** Proxies close what is silent for longer; and whoever may not look any more is shown out. */
const BEAT_EVERY_MS = 15_000;
/** Ids are in the order of time and not of commits: a little of what was seen comes again, and is known by its id. */
const OVERLAP_MS = 5_000;
/** A page that was away for longer had better load its list anew. */
const MOST_BACK_MS = 300_000;

export interface Visitor {
  readonly response: ServerResponse;
  readonly principal: Principal;
  /** Of the last change that was seen; null: from now on. */
  readonly since: Date | null;
  /** Throws when they may not look any more. */
  readonly checkAgain: () => Promise<void>;
}

interface Scope {
  readonly tenant: string | null;
  readonly openedAt: Date;
  readonly finder: ChangeFinder;
  readonly visitors: Set<Visitor>;
  timer: NodeJS.Timeout | undefined;
}

export class LiveFeed {
  readonly #hooks: Posthorn;
  readonly #isDraining: () => boolean;
  readonly #beatEveryMs: number;
  readonly #scopes = new Map<string | null, Scope>();

  constructor(hooks: Posthorn, isDraining: () => boolean, beatEveryMs: number = BEAT_EVERY_MS) {
    this.#hooks = hooks;
    this.#isDraining = isDraining;
    this.#beatEveryMs = beatEveryMs;
  }

  /** Before anything is answered: throws when there are too many. */
  checkRoom(asking: Principal): void {
    const { streams, ofOneTenant, ofOneSessionOrKey } = LIVE_LIMITS;
    const visitors = [...this.#scopes.values()].flatMap((scope) => [...scope.visitors]);
    const own = visitors.filter(({ principal }) => sessionOrKey(principal) === sessionOrKey(asking));
    const ofTenant = this.#scopes.get(asking.tenant)?.visitors.size ?? 0;
    const hasRoom = asking.tenant === null || ofTenant < ofOneTenant;
    if (hasRoom && visitors.length < streams && own.length < ofOneSessionOrKey) return;
    throw new HttpError(
      "too_many_streams",
      `At most ${ofOneSessionOrKey} streams of one session or key are open at a time, ${ofOneTenant} of one tenant, and ${streams} in all. Close some, or try again in a moment.`,
      { headers: { "Retry-After": "5" } },
    );
  }

  /** The head of the answer is out already. */
  async open(visitor: Visitor): Promise<void> {
    const { response, principal, since } = visitor;
    const beat = setInterval(() => void this.#beat(visitor), this.#beatEveryMs);
    whenOver({ request: response.req, response }, () => {
      clearInterval(beat);
      this.#leave(visitor);
    });
    const scope = this.#scopeOf(principal.tenant);
    scope.visitors.add(visitor);
    if (scope.timer === undefined) this.#lookIn(scope, lookEveryMs(this.#scopes.size));
    response.write(`retry: 2000\n${hello()}`);
    if (since !== null) await this.#backFill(visitor, since).catch(() => {});
  }

  #scopeOf(tenant: string | null): Scope {
    const known = this.#scopes.get(tenant);
    if (known !== undefined) return known;
    const openedAt = new Date(Date.now() - LOOK_EVERY_MS);
    const made: Scope = {
      tenant,
      openedAt,
      finder: new ChangeFinder(),
      visitors: new Set(),
      timer: undefined,
    };
    this.#scopes.set(tenant, made);
    return made;
  }

  #leave(visitor: Visitor): void {
    const scope = this.#scopeOf(visitor.principal.tenant);
    scope.visitors.delete(visitor);
    if (scope.visitors.size > 0) return;
    clearTimeout(scope.timer);
    this.#scopes.delete(scope.tenant);
  }

  #lookIn(scope: Scope, ms: number): void {
    scope.timer = setTimeout(() => void this.#look(scope), ms);
  }

  async #look(scope: Scope): Promise<void> {
    if (this.#isDraining()) {
      for (const { response } of scope.visitors) response.end();
      return;
    }
    try {
      const changes = scope.finder.compare(await this.#newest(scope.tenant), scope.openedAt);
      if (changes.deliveries.length > 0 || changes.events.length > 0) {
        const text = messageOf(changes);
        for (const visitor of scope.visitors) send(visitor, text);
      }
    } catch {
      // the database is away: the next look tells of what happened meanwhile
    }
    if (scope.visitors.size > 0) this.#lookIn(scope, lookEveryMs(this.#scopes.size));
  }

  async #newest(tenant: string | null): Promise<Look> {
    const query = { limit: LOOK_AT, ...(tenant !== null && { tenant }) };
    const events = await this.#hooks.events.newest(query);
    const { data, nextCursor } = await this.#hooks.deliveries.list(query);
    return { events, deliveries: data, hasOlder: nextCursor !== null };
  }

  async #backFill(visitor: Visitor, since: Date): Promise<void> {
    const furthest = Date.now() - MOST_BACK_MS;
    const from = new Date(Math.max(since.getTime() - OVERLAP_MS, furthest));
    const missed = changesSince(await this.#newest(visitor.principal.tenant), from, new Date(furthest));
    const isPartial = missed.isPartial || since.getTime() < furthest;
    if (missed.deliveries.length > 0 || missed.events.length > 0 || isPartial) {
      send(visitor, messageOf({ ...missed, isPartial }));
    }
  }

  async #beat({ response, checkAgain }: Visitor): Promise<void> {
    try {
      await checkAgain();
      response.write(hello());
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
export function lookEveryMs(tenants: number): number {
  return Math.max(LOOK_EVERY_MS, tenants * MS_A_LOOK);
}

/** With the time as this server has it: a page whose clock is wrong goes on where it was all the same. */
function hello(): string {
  return message("here", "{}");
}

function messageOf({ deliveries, events, isPartial }: Changes): string {
  const told = {
    deliveries: deliveries.map(presentDelivery),
    events: events.map(presentUnwanted),
    is_partial: isPartial,
  };
  return message("changes", JSON.stringify(told));
}

function message(event: string, data: string): string {
  return `id: ${Date.now()}\nevent: ${event}\ndata: ${data}\n\n`;
}

/** Who does not read is cut off: they come back, and say what they saw last. */
function send({ response }: Visitor, text: string): void {
  if (response.writableLength > LIVE_LIMITS.unreadBytes) response.destroy();
  else response.write(text);
}
