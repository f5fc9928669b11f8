// Follows topics by WebSub: finds their hubs, subscribes, answers the hubs' questions, renews, and hands what they distribute to a receiver.

import type { RequestHandler, WebhookRequest, WebhookResponse } from "../model.ts";
import { answer } from "../respond.ts";
import type { Service } from "../service.ts";
import type { Source } from "../source.ts";
import { type CallbackRequests, contentSource, withTopic } from "./content-source.ts";
import { httpUrl } from "./link-header.ts";
import { readSubscriberOptions, type SubscriberOptions, type SubscriberSettings } from "./options.ts";
import { Renewer } from "./renewer.ts";
import type { Subscription } from "./subscription.ts";
import { notRequested, verifyIntent } from "./verify-intent.ts";

/** `start()` renews what is due, and asks again where a hub was away: in one process at least, or nothing lasts longer than its lease. */
export interface Subscriber extends Service {
  /** For the `sources` of the receiver that handles the content, as events of the type `websub.content`. */
  readonly source: Source;
  /** What to route callbacks to, by the adapter of your framework: answers hubs, and hands content on. */
  before(receiver: RequestHandler): RequestHandler;
  /**
   * Follows what is at this URL, or does so already: call it at every start. Durable when it resolves; the hub may have been asked by
   * then, and if that failed it is asked again. A URL that makes no sense is thrown.
   */
  subscribe(url: string): Promise<Subscription>;
  /** False: it is not followed. Content is refused from now on, and forgotten is it when the hub agrees or its lease has ended. */
  unsubscribe(url: string): Promise<boolean>;
  /** In the order of their URLs, 100 unless you say otherwise; `after` is the URL of the last one of the page before. */
  list(options?: { readonly limit?: number; readonly after?: string }): Promise<Subscription[]>;
  /** For those who run it by a timer of their own instead of `start()`: how many hubs were asked. */
  renew(): Promise<number>;
}

const MAX_URL_LENGTH = 2_048;

export function createSubscriber(options: SubscriberOptions): Subscriber {
  const settings = readSubscriberOptions(options);
  const { store, name, idHeader } = settings;
  const followed: CallbackRequests = new WeakMap();
  const renewer = new Renewer(settings);

  return {
    source: contentSource(name, idHeader, followed),
    before: (receiver) => ({ receive: (request) => receiveSafely(settings, followed, receiver, request) }),
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

/** Of a store that is away hubs hear that it will be back. */
const unavailable = answer(503, { status: "unavailable" }, { "retry-after": "10" });
/** §7: the hub may end what is answered so. */
const gone = answer(410, { status: "gone" });
/**
 * §7.1: what is not authentic is ignored. It hears what an authentic one hears, so that nobody can try signatures; the receiver's
 * `onRejected` was told.
 */
const ignored = answer(200, { status: "done" });

async function receiveSafely(
  settings: SubscriberSettings,
  followed: CallbackRequests,
  receiver: RequestHandler,
  request: WebhookRequest,
): Promise<WebhookResponse> {
  try {
    return await receiveAtCallback(settings, followed, receiver, request);
  } catch (error) {
    settings.hooks.onFailure(error, null);
    return unavailable;
  }
}

async function receiveAtCallback(
  { store, hooks }: SubscriberSettings,
  followed: CallbackRequests,
  receiver: RequestHandler,
  request: WebhookRequest,
): Promise<WebhookResponse> {
  const [path = ""] = request.url.split("?", 1);
  // a `?` within it is a letter like any other, and not every hub encodes those of a topic
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
  followed.set(headers, { topic: verified.topic, secret });
  const reply = await receiver.receive({ ...request, headers });
  return reply.status === 401 ? ignored : reply;
}

function checkedUrl(url: string): string {
  const whole = typeof url === "string" ? httpUrl(url) : null;
  if (whole !== null && whole.length <= MAX_URL_LENGTH) return whole;
  throw new TypeError(
    `What is followed has an http or https URL of at most ${MAX_URL_LENGTH} characters, not ${String(url).slice(0, 100)}.`,
  );
}

/** 256 bits in 43 letters of base64url. */
function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function isCallbackId(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
