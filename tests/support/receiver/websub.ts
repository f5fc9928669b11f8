// A WebSub hub on loopback that tests control, and a subscriber behind a real server that follows it.
import { createHmac, randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { createReceiver, eventTypes, type RejectedRequest, type Store } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import {
  createSubscriber,
  type SubscriberOptions,
  type Subscription,
  type WebSubContent,
} from "@posthorn/receiver/websub";
import { expect, onTestFinished } from "vitest";
import { listen } from "../servers/http.ts";
import type { PostgresWorld } from "./postgres-world.ts";

export interface Page {
  readonly status?: number;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** A request to the hub. */
export type HubRequest = Readonly<Record<"mode" | "topic" | "callback" | "path", string>> & {
  readonly secret: string | null;
  readonly leaseSeconds: string | null;
};

export interface Distribution {
  readonly method?: "sha1" | "sha256" | "sha384" | "sha512";
  readonly contentType?: string;
  /** Replaces the valid one; null omits the header. */
  readonly signature?: string | null;
  readonly headers?: Record<string, string>;
}

/** The response to a path, or a function that creates it from a request to the hub. */
type Route = Page | ((request: HubRequest) => Promise<Page>);

export async function startTestHub() {
  const routes = new Map<string, Route>();
  const requests: HubRequest[] = [];

  const url = await listen(async (incoming, response) => {
    const path = incoming.url ?? "/";
    const isPost = incoming.method === "POST";
    const form = new URLSearchParams(isPost ? await text(incoming) : "");
    const request: HubRequest = {
      path,
      mode: form.get("hub.mode") ?? "",
      topic: form.get("hub.topic") ?? "",
      callback: form.get("hub.callback") ?? "",
      secret: form.get("hub.secret"),
      leaseSeconds: form.get("hub.lease_seconds"),
    };
    if (isPost) requests.push(request);
    // some hubs compare the whole header
    const isForm = incoming.headers["content-type"] === "application/x-www-form-urlencoded";
    const unknown: Page = { status: !isPost ? 404 : isForm ? 202 : 415 };
    const route = routes.get(path) ?? unknown;
    const {
      status = 200,
      headers = {},
      body = "",
    } = typeof route === "function" ? await route(request) : route;
    response.writeHead(status, headers).end(body);
  });

  return {
    url,
    /** All requests to the hub, the newest last. */
    requests: requests as readonly HubRequest[],
    get last() {
      return requests.at(-1) as HubRequest;
    },
    /** Sets the response of a path: by default 202 to requests to the hub, 404 for pages. */
    page(path: string, route: Route): string {
      routes.set(path, route);
      return `${url}${path}`;
    },
    /** Verifies the intent at a callback; `changes` override the query of a good hub. */
    async verify(
      { callback, mode, topic }: HubRequest,
      changes: Readonly<Record<string, string | null>> = {},
    ) {
      const challenge = `${randomUUID()}&<b>+ %`;
      const query = new URLSearchParams();
      const good = { mode, topic, challenge, lease_seconds: mode === "subscribe" ? "864000" : null };
      for (const [name, value] of Object.entries({ ...good, ...changes })) {
        if (value !== null) query.set(`hub.${name}`, value);
      }
      return { ...(await contentOf(await fetch(`${callback}?${query}`))), challenge };
    },
    async distribute({ callback, secret }: HubRequest, body: string | Buffer, options: Distribution = {}) {
      const { method = "sha256", contentType = "application/atom+xml", headers } = options;
      const right = `${method}=${createHmac(method, secret ?? "")
        .update(body)
        .digest("hex")}`;
      const signature = options.signature === undefined ? right : options.signature;
      const sentHeaders = {
        "content-type": contentType,
        ...(signature !== null && { "x-hub-signature": signature }),
        ...headers,
      };
      return contentOf(
        await fetch(callback, {
          method: "POST",
          body: new Uint8Array(Buffer.from(body)),
          headers: sentHeaders,
        }),
      );
    },
  };
}

async function contentOf(response: Response) {
  return { status: response.status, headers: response.headers, body: await response.text() };
}

export interface SubscriptionWorld {
  readonly store: Store;
  /** Moves the clock of the store. */
  elapse(ms: number): Promise<void>;
}

interface Handled extends WebSubContent {
  readonly text: string;
}

export async function openSubscriber(
  open: () => Promise<SubscriptionWorld>,
  options: Partial<SubscriberOptions> = {},
) {
  const { store, elapse } = await open();
  const hub = await startTestHub();
  const handled: Handled[] = [];
  const rejected: RejectedRequest[] = [];
  const failures: string[] = [];
  const denied: Subscription[] = [];

  const callbackUrl = `${await listen((request, response) => void handle(request, response))}/websub/`;
  const subscriber = createSubscriber({
    callbackUrl,
    store,
    onFailure: (error) => failures.push(String(error)),
    onDenied: (subscription) => denied.push(subscription),
    ...options,
  });
  onTestFinished(() => subscriber.stop());
  const receiver = createReceiver({
    sources: [subscriber.source],
    store,
    events: eventTypes<{ "websub.content": WebSubContent }>(),
    onRejected: (rejection) => rejected.push(rejection),
    onFailure: null,
  });
  receiver.on("websub.content", ({ data, body }) => {
    handled.push({ ...data, text: new TextDecoder().decode(body) });
  });
  const handle = nodeHandler(subscriber.before(receiver));

  const link = (path: string) => `<${hub.url}/hub>; rel="hub", <${hub.url}${path}>; rel="self"`;
  const topic = hub.page("/feed", { headers: { link: link("/feed") }, body: "<feed/>" });
  return {
    ...{ hub, subscriber, handled, rejected, failures, denied, elapse },
    /** A page that names the hub in its header. */
    topic,
    /** Subscribes and verifies. */
    async follow(url = topic): Promise<HubRequest> {
      await subscriber.subscribe(url);
      const request = hub.last;
      expect((await hub.verify(request)).status).toBe(200);
      return request;
    },
  };
}

/** Moves all timestamps of the subscriptions in PostgreSQL back. */
export async function elapse({ pool }: Pick<PostgresWorld<unknown>, "pool">, ms: number): Promise<void> {
  await pool.query(
    `update posthorn_receiver.subscriptions
     set due_at = due_at - elapsed, lease_ends_at = lease_ends_at - elapsed, confirmed_at = confirmed_at - elapsed
     from (select $1::double precision * interval '1 millisecond' as elapsed) by`,
    [ms],
  );
}

export function subscriptionsOf<Tx>(
  open: () => Promise<PostgresWorld<Tx>>,
): () => Promise<SubscriptionWorld> {
  return async () => {
    const world = await open();
    return { store: world.store as Store, elapse: (ms) => elapse(world, ms) };
  };
}
