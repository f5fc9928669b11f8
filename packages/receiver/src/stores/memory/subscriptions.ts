// Subscriptions that end with the process: the next one cannot even end them at their hubs, so this is for tests.
import {
  type ConfirmTerms,
  MAX_DOUBLINGS,
  type Place,
  type Subscription,
  type SubscriptionMode,
  type SubscriptionStore,
  type TakeTerms,
} from "../../websub/subscription.ts";

interface Row {
  subscription: Subscription;
  /** Infinity: never. */
  dueMs: number;
  confirmedMs: number | null;
}

export class MemorySubscriptions implements SubscriptionStore {
  readonly #rows = new Map<string, Row>();

  async open(fresh: Pick<Subscription, "id" | "url" | "secret">): Promise<Subscription> {
    const known = this.#byUrl(fresh.url);
    if (known === undefined) {
      const subscription: Subscription = { ...fresh, ...UNASKED };
      this.#rows.set(fresh.id, { subscription, dueMs: Date.now(), confirmedMs: null });
      return subscription;
    }
    const { mode, denied } = known.subscription;
    if (mode === "subscribe" && denied === null) return known.subscription;
    known.dueMs = Date.now();
    return change(known, { mode: "subscribe", denied: null, tries: 0, error: null });
  }

  async find(id: string): Promise<Subscription | null> {
    return this.#rows.get(id)?.subscription ?? null;
  }

  async list({ limit, after = "" }: { limit: number; after?: string }): Promise<Subscription[]> {
    return [...this.#rows.values()]
      .map(({ subscription }) => subscription)
      .filter(({ url }) => url > after)
      .sort((a, b) => (a.url < b.url ? -1 : 1))
      .slice(0, limit);
  }

  async close(url: string): Promise<Subscription | null> {
    const row = this.#byUrl(url);
    if (row === undefined) return null;
    row.dueMs = Date.now();
    return change(row, { mode: "unsubscribe", tries: 0, error: null });
  }

  async take({ limit, id, firstDelayMs, maxDelayMs }: TakeTerms): Promise<Subscription[]> {
    const nowMs = Date.now();
    const due = [...this.#rows.values()]
      .filter((row) => row.dueMs <= nowMs && (id === undefined || row.subscription.id === id))
      .sort((a, b) => a.dueMs - b.dueMs)
      .slice(0, limit);
    return due.map((row) => {
      const { tries } = row.subscription;
      row.dueMs = nowMs + Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(tries, MAX_DOUBLINGS));
      return change(row, { tries: tries + 1 });
    });
  }

  async ask(id: string, mode: SubscriptionMode, { topic, hub }: Place): Promise<boolean> {
    const row = this.#rows.get(id);
    if (row?.subscription.mode !== mode) return false;
    row.confirmedMs = null;
    change(row, { asked: { topic, hub } });
    return true;
  }

  async fail(id: string, error: string): Promise<void> {
    const row = this.#rows.get(id);
    if (row !== undefined) change(row, { error });
  }

  async confirm(id: string, topic: string, terms: ConfirmTerms): Promise<Subscription | null> {
    const row = this.#rows.get(id);
    const { mode, asked } = row?.subscription ?? { mode: null, asked: null };
    if (row === undefined || mode !== "subscribe" || asked?.topic !== topic) return null;
    const nowMs = Date.now();
    if (row.confirmedMs !== null && row.confirmedMs <= nowMs - terms.graceMs) return null;
    row.confirmedMs ??= nowMs;
    row.dueMs = nowMs + terms.renewAfterMs;
    const leaseEndsAt = new Date(nowMs + terms.leaseMs);
    return change(row, { verified: { ...asked, leaseEndsAt }, tries: 0, error: null });
  }

  async end(id: string, topic: string): Promise<boolean> {
    const { mode, asked } = this.#rows.get(id)?.subscription ?? { mode: null, asked: null };
    return mode === "unsubscribe" && asked?.topic === topic && this.#rows.delete(id);
  }

  async deny(id: string, topic: string, reason: string): Promise<Subscription | null> {
    const row = this.#rows.get(id);
    if (row === undefined) return null;
    const { mode, asked, verified } = row.subscription;
    const isAbout = asked?.topic === topic || verified?.topic === topic;
    if (mode !== "subscribe" || !isAbout) return null;
    row.dueMs = Number.POSITIVE_INFINITY;
    return change(row, { denied: reason, asked: null, verified: null });
  }

  async forget(id: string): Promise<void> {
    this.#rows.delete(id);
  }

  #byUrl(url: string): Row | undefined {
    return [...this.#rows.values()].find(({ subscription }) => subscription.url === url);
  }
}

function change(row: Row, changes: Partial<Subscription>): Subscription {
  row.subscription = { ...row.subscription, ...changes };
  return row.subscription;
}

const UNASKED = {
  mode: "subscribe",
  asked: null,
  verified: null,
  denied: null,
  tries: 0,
  error: null,
} as const satisfies Partial<Subscription>;
