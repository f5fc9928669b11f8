// A WebSub hub (a server on a database whose clock tests move), and a subscriber on loopback that follows the
// recommendation unless a test changes its behaviour.
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type pg from "pg";
import type { PosthornOptions } from "posthorn";
import { createTestInstance } from "posthorn/testing";
import { beforeAll } from "vitest";
import type { Instance } from "../../../packages/posthorn/src/posthorn.ts";
import { createMigratedDatabase, createPool } from "../database/postgres.ts";
import { eventually } from "../eventually.ts";
import { serve } from "./http.ts";
import { type Answer, startServer } from "./start-server.ts";

/** The URL that subscribers see; the hub itself is on loopback. */
export const publicUrl = "https://hub.example.com";
export const hubUrl = `${publicUrl}/websub`;
export const topicUrl = (tenant: string, type: string): string => `${hubUrl}/topics/${tenant}/${type}`;

export type TestHub = Awaited<ReturnType<typeof startHub>>;

export async function startHub(options: Partial<PosthornOptions> = {}) {
  const database = await createMigratedDatabase();
  const { connectionString } = database;
  const { hooks, advance, settle, close } = await createTestInstance({
    database: connectionString,
    publicUrl,
    websub: {},
    ...options,
  });
  const server = await startServer({ hooks, atEnd: () => {} });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  return {
    /** The server on loopback. */
    url: server.url,
    hooks: hooks as Instance,
    connectionString,
    advance,
    settle,
    post: (fields: Fields | string, path = "/websub"): Promise<Answer> =>
      server.visit("POST", path, String(new URLSearchParams(fields)), form),
    get: (path: string, headers?: Record<string, string>) => server.visit("GET", path, undefined, headers),
    /** Without a body. */
    send: (method: string, path: string, headers?: Record<string, string>) =>
      server.visit(method, path, undefined, headers),
    async stop(): Promise<void> {
      await server.stop();
      await close();
      await database.drop();
    },
  };
}

type Fields = Readonly<Record<string, string>>;

export interface Seen {
  readonly method: string;
  /** The raw path and query. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** In the order of arrival with the original names: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export type CallbackResponse = {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
};

/** Its reaction to a request: a response, now or later, or a broken connection. */
export type Behaviour = (seen: Seen) => CallbackResponse | "reset" | Promise<CallbackResponse>;

export type Subscriber = Awaited<ReturnType<typeof startSubscriber>>;

/** Confirms every challenge and accepts every notification. */
export const obedient: Behaviour = ({ method, query }) =>
  method === "GET" ? { status: 200, body: query.get("hub.challenge") ?? "" } : { status: 204 };

export async function startSubscriber() {
  const seen: Seen[] = [];
  const behaviours = new Map<string, Behaviour>();
  const { url, close } = await serve(async (request, response) => {
    const one = read(request, await buffer(request));
    seen.push(one);
    const answer = await (behaviours.get(one.path) ?? obedient)(one);
    if (answer === "reset") response.socket?.resetAndDestroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  const requestsTo = (method: string, path: string): readonly Seen[] =>
    seen.filter((one) => one.method === method && one.path === path);
  return {
    url,
    close,
    seen: seen as readonly Seen[],
    /** Verifications and denials at this path. */
    asked: (path: string) => requestsTo("GET", path),
    /** Notifications at this path. */
    notified: (path: string) => requestsTo("POST", path),
    /** From now on, at this path. */
    behave: (path: string, behaviour: Behaviour) => void behaviours.set(path, behaviour),
    until: async (what: string, condition: () => boolean, limitMs?: number): Promise<void> =>
      void (await eventually(what, condition, limitMs)),
  };
}

function read(request: IncomingMessage, body: Buffer): Seen {
  const url = request.url ?? "/";
  const [path = "/", query = ""] = url.split(/\?(.*)/s);
  return {
    method: request.method ?? "",
    url,
    path,
    query: new URLSearchParams(query),
    rawHeaders: request.rawHeaders,
    headers: request.headers,
    body,
  };
}

type HubWorld = TestHub & ReturnType<typeof actionsOf>;

export const topicOf = (name: string): string => topicUrl("acme", name);

/** Opened before the tests of a file, and closed after them. */
export function openWorld(options: Partial<PosthornOptions> = {}): HubWorld {
  const world = {} as HubWorld;
  beforeAll(async () => {
    const hub = await startHub(options);
    const subscriber = await startSubscriber();
    const pool = createPool(hub.connectionString);
    Object.assign(world, hub, actionsOf(hub, subscriber, pool));
    await hub.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
    return async () => {
      await pool.end();
      await subscriber.close();
      await hub.stop();
    };
  });
  return world;
}

function actionsOf(hub: TestHub, subscriber: Subscriber, pool: pg.Pool) {
  const read = new Map<string, number>();
  /** A form to the hub: a subscription of `/name` to the topic `name`, unless the fields say otherwise. */
  const ask = (name: string, fields: Fields = {}): Promise<Answer> =>
    hub.post({
      "hub.mode": "subscribe",
      "hub.topic": topicOf(name),
      "hub.callback": `${subscriber.url}/${name}`,
      ...fields,
    });
  const subscriptions = async () => {
    const found = [];
    for (const tenant of ["acme", "posthorn.websub"]) {
      const page = await hub.hooks.endpoints.list(tenant, { limit: 250 }).catch(() => ({ data: [] }));
      found.push(...page.data);
    }
    const now = hub.hooks.clock.nowMs();
    return found.flatMap(({ url, websub }) =>
      websub === null
        ? []
        : [{ topic: websub.topic, url, leaseSeconds: (websub.leaseExpiresAt.getTime() - now) / 1_000 }],
    );
  };
  /** Publishes an event in the topic `name`, and waits for its effects. */
  const publish = async (name: string, data: unknown = { name }): Promise<void> => {
    await hub.hooks.publish({ tenant: "acme", type: name, data });
    await hub.settle();
  };
  /** Requests to `/name` since the last call. */
  const news = (name: string): readonly Seen[] => {
    const all = subscriber.notified(`/${name}`);
    const before = read.get(name) ?? 0;
    read.set(name, all.length);
    return all.slice(before);
  };
  return {
    subscriber,
    query: async <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
      (await pool.query(text, values)).rows,
    ask,
    /** The same, and waits for its effects. */
    async asked(name: string, fields?: Fields): Promise<Answer> {
      const reply = await ask(name, fields);
      await hub.settle();
      return reply;
    },
    publish,
    /** The same, and returns the news of `/name`. */
    async published(name: string, data?: unknown): Promise<readonly Seen[]> {
      await publish(name, data);
      return news(name);
    },
    news,
    /** `hub.mode` of the requests that verified or denied a subscription at `/name`. */
    modes: (name: string) => subscriber.asked(`/${name}`).map(({ query }) => query.get("hub.mode")),
    subscriptions,
    /** The subscriptions to the topic `name`. */
    subscriptionsTo: async (name: string) =>
      (await subscriptions()).filter(({ topic }) => topic === topicOf(name)),
  };
}

/** Confirms nothing. */
export const refusing =
  (status: number, body = "") =>
  () => ({ status, body });

/** External topics on the subscriber's own server. */
export function feedsOf(world: HubWorld) {
  const feedOf = (name: string): string => `${world.subscriber.url}/feed/${name}`;
  return {
    feedOf,
    follow: (name: string, fields: Fields = {}) =>
      world.asked(name, { "hub.topic": feedOf(name), ...fields }),
    /** Sets the content of a feed. */
    serve: (name: string, body: string | Buffer, headers: Record<string, string> = {}): void =>
      world.subscriber.behave(`/feed/${name}`, () => ({ status: 200, body, headers })),
    ping: async (...names: readonly string[]): Promise<number> => {
      const form = new URLSearchParams({ "hub.mode": "publish" });
      for (const name of names) form.append("hub.url", feedOf(name));
      const { status } = await world.post(form.toString());
      await world.settle();
      return status;
    },
    fetches: (name: string): readonly Seen[] => world.subscriber.asked(`/feed/${name}`),
  };
}
