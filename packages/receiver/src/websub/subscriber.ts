// Subscribes to topics by WebSub: finds their hubs, subscribes, verifies, renews, and passes content to a receiver.

import { encode } from "@posthorn/wire";
import type { RequestHandler, WebhookRequest, WebhookResponse } from "../model.ts";
import { jsonResponse } from "../respond.ts";
import type { Service } from "../service.ts";
import type { Source } from "../source.ts";
import { type CallbackRequests, contentSource, withTopic } from "./content-source.ts";
import { httpUrl } from "./link-header.ts";
import { readSubscriberOptions, type SubscriberOptions, type SubscriberSettings } from "./options.ts";
import { Renewer } from "./renewer.ts";
import type { Subscription } from "./subscription.ts";
import { notRequested, verifyIntent } from "./verify-intent.ts";

/** `start()` sends renewals and retries. It must run in at least one process, or subscriptions end with their leases. */
export interface Subscriber extends Service {
  /** For the `sources` of the receiver that handles the content, as events of type `websub.content`. */
  readonly source: Source;
  /** The handler for callbacks, to use with your framework's adapter: responds to hubs, and passes content to the receiver. */
  before(receiver: RequestHandler): RequestHandler;
  /**
   * Subscribes to the topic at this URL, unless already subscribed: call it at every start. Durable when it resolves. The hub may have
   * been asked by then; a failed request is retried. Throws if the URL is invalid.
   */
  subscribe(url: string): Promise<Subscription>;
  /** False if there is no such subscription. Content is rejected from now on; the row is deleted when the hub confirms or the lease ends. */
  unsubscribe(url: string): Promise<boolean>;
  /** Ordered by URL, 100 by default; `after` is the URL of the last one of the previous page. */
  list(options?: { readonly limit?: number; readonly after?: string }): Promise<Subscription[]>;
  /** Sends due requests and returns their number. For applications that use their own timer instead of `start()`. */
  renew(): Promise<number>;
}

const MAX_URL_LENGTH = 2_048;

export function createSubscriber(options: SubscriberOptions): Subscriber {
  const settings = readSubscriberOptions(options);
  const { store, name, idHeader } = settings;
  const callbackRequests: CallbackRequests = new WeakMap();
  const renewer = new Renewer(settings);

  return {
    source: contentSource(name, idHeader, callbackRequests),
    before: (receiver) => ({
      receive: (request) => receiveSafely(settings, callbackRequests, receiver, request),
    }),
    async subscribe(url) {
      const fresh = { id: randomText(), url: checkedUrl(url), secret: randomText() };
      const opened = await store.open(fresh);
      return (await renewer.requestNow(opened.id)) ?? opened;
    },
    async unsubscribe(url) {
      const closed = await store.close(checkedUrl(url));
      if (closed !== null) await renewer.requestNow(closed.id);
      return closed !== null;
    },
    list: ({ limit = 100, after } = {}) => store.list({ limit, ...(after !== undefined && { after }) }),
    renew: () => renewer.renewDue(),
    start: () => renewer.start(),
    stop: () => renewer.stop(),
  };
}

/** Hubs retry while the store is unavailable. */
const unavailable = jsonResponse(503, { status: "unavailable" }, { "retry-after": "10" });
/** §7: the hub may end the subscription after this response. */
const gone = jsonResponse(410, { status: "gone" });
/**
 * §7.1: content without a valid signature is ignored. The response is the same as for valid content, so that signatures cannot be
 * probed; the receiver's `onRejected` was called.
 */
const ignored = jsonResponse(200, { status: "done" });

async function receiveSafely(
  settings: SubscriberSettings,
  callbackRequests: CallbackRequests,
  receiver: RequestHandler,
  request: WebhookRequest,
): Promise<WebhookResponse> {
  try {
    return await receiveAtCallback(settings, callbackRequests, receiver, request);
  } catch (error) {
    settings.hooks.onFailure(error, null);
    return unavailable;
  }
}

async function receiveAtCallback(
  { store, hooks }: SubscriberSettings,
  callbackRequests: CallbackRequests,
  receiver: RequestHandler,
  request: WebhookRequest,
): Promise<WebhookResponse> {
  const [path = ""] = request.url.split("?", 1);
  // A later `?` is part of the query; not every hub encodes those of a topic.
  const query = request.url.slice(path.length + 1);
  const id = path.slice(path.lastIndexOf("/") + 1);
  if (!isCallbackId(id)) return notRequested;
  if (request.method === "GET") return verifyIntent(store, hooks, id, new URLSearchParams(query));

  const subscription = await store.find(id);
  if (subscription === null || subscription.mode === "unsubscribe" || subscription.denied !== null)
    return gone;
  const { verified, secret } = subscription;
  if (verified === null) return notRequested;
  const headers = withTopic(request.headers, verified.topic);
  callbackRequests.set(headers, { topic: verified.topic, secret });
  const reply = await receiver.receive({ ...request, headers });
  return reply.status === 401 ? ignored : reply;
}

function checkedUrl(url: string): string {
  const whole = typeof url === "string" ? httpUrl(url) : null;
  if (whole !== null && whole.length <= MAX_URL_LENGTH) return whole;
  throw new TypeError(
    `The topic must be an http or https URL of at most ${MAX_URL_LENGTH} characters, not ${String(url).slice(0, 100)}.`,
  );
}

/** 256 random bits as 43 characters of base64url. */
function randomText(): string {
  const base64 = encode("base64", crypto.getRandomValues(new Uint8Array(32)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function isCallbackId(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
