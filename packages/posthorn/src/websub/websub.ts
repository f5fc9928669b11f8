// The hub as whoever speaks HTTP sees it: what a posted form leads to, and what a topic of our own shows.

import { topicContent } from "../attempt/build-notification.ts";
import type { AddressPolicy } from "../attempt/guard-address.ts";
import { PosthornError } from "../errors.ts";
import { maxTypeLength, typeSyntax } from "../event/limits.ts";
import { discoveryLink } from "../resources/hub-identity.ts";
import { isOpenTopic, isTenantId } from "../resources/tenants.ts";
import type { Database } from "../storage/database.ts";
import type { KeyRing } from "../storage/key-ring.ts";
import { newestEvent } from "../storage/queries/events/newest.ts";
import { findTenant } from "../storage/queries/tenants/read.ts";
import { keepRequest } from "../storage/queries/websub/requests.ts";
import type { HubConfig } from "./options.ts";
import { type HubRequest, parseForm } from "./parse-form.ts";
import { requestBinding } from "./subscriptions.ts";
import { ownTopicUrl } from "./topics.ts";
import { hostOf, pairOf } from "./urls.ts";

export interface OwnTopic {
  /** The hub and the topic, as `Link` has them. */
  readonly link: string;
  /** Null: no event yet, or none among the tenant's last 2 000. */
  readonly content: {
    readonly eventId: string;
    readonly contentType: string;
    readonly body: Uint8Array;
  } | null;
}

export interface WebSub {
  hubUrl(): Promise<string>;
  /** `accepted`: durable, and verified by and by, whatever comes of it. `published`: the topics are fetched by and by. */
  take(form: URLSearchParams): Promise<"accepted" | "published">;
  topic(tenant: string, type: string): Promise<OwnTopic>;
}

export interface WebSubResourceOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly addressPolicy: AddressPolicy;
  readonly hub: HubConfig | null;
  /** There is something for the hub to do. */
  readonly onTaken: () => void;
}

export function createWebSub(options: WebSubResourceOptions): WebSub {
  const { db, keyRing, addressPolicy, onTaken } = options;
  return { hubUrl: async () => theHub().hubUrl, take, topic };

  async function take(form: URLSearchParams): Promise<"accepted" | "published"> {
    const hub = theHub();
    const request = parseForm(form, addressPolicy);
    if (request.kind === "publish") return "published";
    await keep(request, hub);
    onTaken();
    return "accepted";
  }

  async function keep(request: Extract<HubRequest, { kind: "subscription" }>, hub: HubConfig): Promise<void> {
    const { mode, topic, callback, leaseSeconds, secret } = request;
    const pair = pairOf(topic, callback);
    const encrypted = secret === null ? null : keyRing.encrypt(secret, requestBinding(pair.toString("hex")));
    const limits = {
      perHost: hub.verificationsPerHost * MINUTES_OF_WAITING,
      inAll: hub.verificationsPerMinute * MINUTES_OF_WAITING,
    };
    const isKept = await keepRequest(
      db,
      {
        mode,
        topic,
        callback,
        pair,
        host: hostOf(callback),
        leaseSeconds: leaseSeconds === null ? null : Math.min(leaseSeconds, hub.maxLeaseSeconds),
        secret: encrypted,
        reason: null,
      },
      limits,
    );
    if (!isKept) {
      throw new PosthornError(
        "websub_busy",
        "Too many requests for callbacks on this host, or in all, are waiting to be verified. Try again in some minutes.",
      );
    }
  }

  async function topic(tenantId: string, type: string): Promise<OwnTopic> {
    const { hubUrl, topicsUrl } = theHub();
    const isPossible = isTenantId(tenantId) && typeSyntax.test(type) && type.length <= maxTypeLength;
    const tenant = isPossible ? await findTenant(db, tenantId) : null;
    if (tenant?.isActive !== true || !isOpenTopic(tenant.websubTopics ?? [], type)) throw noSuchTopic();
    const link = discoveryLink(hubUrl, ownTopicUrl(topicsUrl, tenantId, type));
    const event = await newestEvent(db, tenantId, type);
    return { link, content: event === null ? null : { eventId: event.id, ...topicContent(event) } };
  }

  function theHub(): HubConfig {
    if (options.hub !== null) return options.hub;
    throw new PosthornError("websub_off", "This server is no WebSub hub.");
  }
}

/** What waits longer than this is not worth waiting for. */
const MINUTES_OF_WAITING = 10;

/** The same words whether the tenant is unknown, inactive, or keeps its events to itself. */
function noSuchTopic(): PosthornError {
  return new PosthornError("websub_topic_not_found", "There is no such topic here.");
}
