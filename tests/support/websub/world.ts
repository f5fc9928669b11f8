// A hub, a tenant whose events anybody may follow, and a subscriber: shared by the tests of a file, each with topics and
// callbacks of its own.
import type { PosthornOptions } from "posthorn";
import { afterAll, beforeAll } from "vitest";
import { createPool } from "../postgres.ts";
import { type Reply, startHub, type TestHub, topicUrl } from "./hub.ts";
import { type Answer, type Seen, type Subscriber, startSubscriber } from "./subscriber.ts";

export interface HubWorld extends TestHub {
  readonly subscriber: Subscriber;
  /** A form to the hub: a subscription of `/name` to the topic `name`, unless the fields say otherwise. */
  ask(name: string, fields?: Readonly<Record<string, string>>): Promise<Reply>;
  /** The same, and all that follows from it. */
  asked(name: string, fields?: Readonly<Record<string, string>>): Promise<Reply>;
  /** An event in the topic `name`, and all that follows from it. */
  publish(name: string, data?: unknown): Promise<void>;
  /** What came to `/name` since it was asked last. */
  news(name: string): readonly Seen[];
  subscriptions(): Promise<readonly SubscriptionFacts[]>;
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
}

export interface SubscriptionFacts {
  readonly topic: string;
  readonly url: string;
  readonly leaseSeconds: number;
}

export const topicOf = (name: string): string => topicUrl("acme", name);

/** Opened before the tests of a file, and closed after them. */
export function openWorld(options: Partial<PosthornOptions> = {}): HubWorld {
  const world = {} as { -readonly [Name in keyof HubWorld]: HubWorld[Name] };
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const hub = await startHub(options);
    const subscriber = await startSubscriber();
    const pool = createPool(hub.connectionString);
    Object.assign(world, hub, waysIn(hub, subscriber), {
      subscriber,
      query: async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows,
    });
    await hub.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
    close = async () => {
      await pool.end();
      await subscriber.close();
      await hub.stop();
    };
  });
  afterAll(() => close());
  return world;
}

function waysIn(hub: TestHub, subscriber: Subscriber): Partial<HubWorld> {
  const read = new Map<string, number>();
  const ask = (name: string, fields: Readonly<Record<string, string>> = {}) =>
    hub.post({
      "hub.mode": "subscribe",
      "hub.topic": topicOf(name),
      "hub.callback": `${subscriber.url}/${name}`,
      ...fields,
    });
  return {
    ask,
    asked: async (name, fields) => {
      const reply = await ask(name, fields);
      await hub.settle();
      return reply;
    },
    publish: async (name, data = { name }) => {
      await hub.hooks.publish({ tenant: "acme", type: name, data });
      await hub.settle();
    },
    news: (name) => {
      const all = subscriber.notified(`/${name}`);
      const before = read.get(name) ?? 0;
      read.set(name, all.length);
      return all.slice(before);
    },
    subscriptions: async () => {
      const found = [];
      for (const tenant of ["acme", "posthorn.websub"]) {
        const page = await hub.hooks.endpoints.list(tenant, { limit: 250 }).catch(() => ({ data: [] }));
        found.push(...page.data);
      }
      return found.flatMap(({ url, websub }) =>
        websub === null
          ? []
          : [
              {
                topic: websub.topic,
                url,
                leaseSeconds: (websub.leaseEndsAt.getTime() - hub.hooks.clock.nowMs()) / 1_000,
              },
            ],
      );
    },
  };
}

/** Confirms nothing. */
export const refusing =
  (status: number, body = "") =>
  () => ({ status, body });

/** An answer that is given when it is released. */
export function hold(answer: Answer): { readonly answer: Promise<Answer>; readonly release: () => void } {
  let release = (): void => {};
  const held = new Promise<Answer>((resolve) => {
    release = () => resolve(answer);
  });
  return { answer: held, release };
}
