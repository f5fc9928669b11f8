// Subscriptions that are lost when the process ends. For tests: a later process cannot even end them at their hubs.
import {
  type ClaimDueOptions,
  type ConfirmOptions,
  type HubTopic,
  MAX_DOUBLINGS,
  type Subscription,
  type SubscriptionMode,
  type SubscriptionStore,
} from "../../websub/subscription.ts";

interface Row {
  subscription: Subscription;
  /** Infinity means never. */
  dueMs: number;
  confirmedMs: number | null;
}

export class MemorySubscriptions implements SubscriptionStore {
  readonly #rows = new Map<string, Row>();

  async open(fresh: Pick<Subscription, "id" | "url" | "secret">): Promise<Subscription> {
    const known = this.#byUrl(fresh.url);
    if (known === undefined) {
      const subscription: Subscription = { ...fresh, ...NOT_REQUESTED };
      this.#rows.set(fresh.id, { subscription, dueMs: Date.now(), confirmedMs: null });
      return subscription;
    }
    const { mode, denied } = known.subscription;
    if (mode === "subscribe" && denied === null) return known.subscription;
    known.dueMs = Date.now();
    return change(known, { mode: "subscribe", denied: null, attempts: 0, error: null });
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
    return change(row, { mode: "unsubscribe", attempts: 0, error: null });
  }

  async claimDue({ limit, id, firstDelayMs, maxDelayMs }: ClaimDueOptions): Promise<Subscription[]> {
    const nowMs = Date.now();
    const due = [...this.#rows.values()]
      .filter((row) => row.dueMs <= nowMs && (id === undefined || row.subscription.id === id))
      .sort((a, b) => a.dueMs - b.dueMs)
      .slice(0, limit);
    return due.map((row) => {
      const { attempts } = row.subscription;
      row.dueMs = nowMs + Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempts, MAX_DOUBLINGS));
      return change(row, { attempts: attempts + 1 });
    });
  }

  async recordRequest(id: string, mode: SubscriptionMode, { topic, hub }: HubTopic): Promise<boolean> {
    const row = this.#rows.get(id);
    if (row?.subscription.mode !== mode) return false;
    row.confirmedMs = null;
    change(row, { requested: { topic, hub } });
    return true;
  }

  async fail(id: string, error: string): Promise<void> {
    const row = this.#rows.get(id);
    if (row !== undefined) change(row, { error });
  }

  async confirm(id: string, topic: string, options: ConfirmOptions): Promise<Subscription | null> {
    const row = this.#rows.get(id);
    const { mode, requested } = row?.subscription ?? { mode: null, requested: null };
    if (row === undefined || mode !== "subscribe" || requested?.topic !== topic) return null;
    const nowMs = Date.now();
    if (row.confirmedMs !== null && row.confirmedMs <= nowMs - options.graceMs) return null;
    row.confirmedMs ??= nowMs;
    row.dueMs = nowMs + options.renewAfterMs;
    const leaseEndsAt = new Date(nowMs + options.leaseMs);
    return change(row, { verified: { ...requested, leaseEndsAt }, attempts: 0, error: null });
  }

  async end(id: string, topic: string): Promise<boolean> {
    const { mode, requested } = this.#rows.get(id)?.subscription ?? { mode: null, requested: null };
    return mode === "unsubscribe" && requested?.topic === topic && this.#rows.delete(id);
  }

  async deny(id: string, topic: string, reason: string): Promise<Subscription | null> {
    const row = this.#rows.get(id);
    if (row === undefined) return null;
    const { mode, requested, verified } = row.subscription;
    const isAbout = requested?.topic === topic || verified?.topic === topic;
    if (mode !== "subscribe" || !isAbout) return null;
    row.dueMs = Number.POSITIVE_INFINITY;
    return change(row, { denied: reason, requested: null, verified: null });
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

const NOT_REQUESTED = {
  mode: "subscribe",
  requested: null,
  verified: null,
  denied: null,
  attempts: 0,
  error: null,
} as const satisfies Partial<Subscription>;
