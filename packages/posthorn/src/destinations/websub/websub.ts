// The hub as HTTP servers use it: processes posted forms, and returns the content of our own topics.

import { parseUrl } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import { maxTypeLength, typeSyntax } from "../../event/limits.ts";
import type { ValidEvent } from "../../event/validate.ts";
import type { PublishResult } from "../../publish/pending-events.ts";
import { isTenantId } from "../../resources/tenants/tenants.ts";
import type { Database } from "../../storage/database.ts";
import type { KeyRing } from "../../storage/key-ring.ts";
import { findTenant } from "../../storage/queries/tenants.ts";
import { storeRequest } from "../../storage/queries/websub/requests.ts";
import { nextRevision, pingTopics, recordContent } from "../../storage/queries/websub/topics.ts";
import { contentEvent, digestOf, headerText, type TopicContent } from "./content-event.ts";
import type { HubConfig } from "./options.ts";
import { OwnTopics, type RedactedView } from "./own-topics.ts";
import { type HubRequest, parseForm, refusal } from "./parse-form.ts";
import { requestBinding } from "./subscriptions.ts";
import { MIN_FETCH_INTERVAL_MS } from "./topic-fetcher.ts";
import { type ExternalTopic, isOpenTopic, ownTopicUrl, type TopicShape, topicOf } from "./topics.ts";
import { discoveryLink, hostOf, pairOf } from "./urls.ts";

export interface WebSubResourceOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly hub: HubConfig | null;
  readonly nowMs: () => number;
  readonly publish: (event: ValidEvent) => Promise<PublishResult>;
  readonly redactedView: (type: string) => Promise<RedactedView>;
  /** There is work for the hub. */
  readonly onAccepted: () => void;
}

export function createWebSub(options: WebSubResourceOptions) {
  const { db, keyRing, onAccepted } = options;
  const ownTopics = new OwnTopics({ db, redactedView: options.redactedView });
  return { hubUrl: async () => theHub().hubUrl, handle, topic, push };

  /** `accepted`: stored, and verified later. `published`: the topics are fetched later. */
  async function handle(form: URLSearchParams): Promise<"accepted" | "published"> {
    const hub = theHub();
    const request = parseForm(form, hub.addressPolicy);
    if (request.kind === "publish") {
      await ping(request.topics, hub);
      return "published";
    }
    await keep(request, hub);
    onAccepted();
    return "accepted";
  }

  /** Our own topics need no ping, and topics without subscribers are not fetched. */
  async function ping(urls: readonly string[], hub: HubConfig): Promise<void> {
    const topics = urls.map((url) => topicOf(url, hub)).filter((topic) => topic?.kind === "external");
    if (topics.length === 0) return;
    const hashes = topics.map(({ hash }) => hash);
    await pingTopics(db, hashes, MIN_FETCH_INTERVAL_MS);
    onAccepted();
  }

  /** Distributes content of an external topic that an authorised caller provides, as if it had been fetched. */
  async function push(topicUrl: string, content: TopicContent): Promise<void> {
    const hub = theHub();
    if (parseUrl(topicUrl) === null)
      throw refusal("topic must be the URL of the topic that this content belongs to.");
    const topic = topicOf(topicUrl, hub);
    if (topic === null) {
      // the caller has an admin key, so the message may name the setting
      throw new PosthornError(
        "websub_topic_not_found",
        "The hub does not serve this topic. Add a prefix of its URL to websub.externalTopics.",
      );
    }
    if (topic.kind === "own") {
      throw refusal("This is one of the hub's own topics. Publish its events with POST /api/v1/events.");
    }
    if (content.body.length > hub.maxTopicBytes) {
      throw new PosthornError("payload_too_large", `A topic may have at most ${hub.maxTopicBytes} bytes.`);
    }
    if (headerText(content.contentType) === null)
      throw refusal("The Content-Type must be printable ASCII, and short.");
    if (await publishPushed(topic, content)) await recordContent(db, topic.hash, digestOf(content));
  }

  /**
   * Returns false if the topic has no subscribers. A concurrent fetch may have taken the revision: then the next one
   * is used.
   */
  async function publishPushed(topic: ExternalTopic, content: TopicContent): Promise<boolean> {
    const revision = await nextRevision(db, topic.hash);
    if (revision === null) return false;
    try {
      await options.publish(contentEvent(topic, content, { revision, nowMs: options.nowMs() }));
      return true;
    } catch (error) {
      if (!(error instanceof PosthornError) || error.code !== "idempotency_conflict") throw error;
      return await publishPushed(topic, content);
    }
  }

  async function keep(request: Extract<HubRequest, { kind: "subscription" }>, hub: HubConfig): Promise<void> {
    const { mode, topic, callback, leaseSeconds, secret, verifyToken } = request;
    const pair = pairOf(topic, callback);
    const encrypted = secret === null ? null : keyRing.encrypt(secret, requestBinding(pair.toString("hex")));
    const limits = {
      perHost: hub.verificationsPerHost * MAX_WAIT_MINUTES,
      total: hub.verificationsPerMinute * MAX_WAIT_MINUTES,
    };
    const isKept = await storeRequest(
      db,
      {
        mode,
        topic,
        callback,
        pair,
        host: hostOf(callback),
        leaseSeconds: leaseSeconds === null ? null : Math.min(leaseSeconds, hub.maxLeaseSeconds),
        secret: encrypted,
        verifyToken,
      },
      limits,
    );
    if (!isKept) {
      throw new PosthornError(
        "websub_busy",
        "Too many requests for callbacks on this host, or in total, are waiting to be verified. Try again in a few minutes.",
      );
    }
  }

  /** Returns the `Link` header of the hub and the topic, and its content; null if there is none. */
  async function topic(tenantId: string, type: string, shape: TopicShape) {
    const { hubUrl, topicsUrl } = theHub();
    const isPossible = isTenantId(tenantId) && typeSyntax.test(type) && type.length <= maxTypeLength;
    const tenant = isPossible ? await findTenant(db, tenantId) : null;
    // the same message whether the tenant is unknown, inactive, or does not offer the topic
    if (tenant?.isActive !== true || !isOpenTopic(tenant.websubTopics ?? [], type))
      throw new PosthornError("websub_topic_not_found", "This topic does not exist.");
    const topicUrl = ownTopicUrl(topicsUrl, { tenant: tenantId, type, shape });
    const link = discoveryLink(hubUrl, topicUrl);
    const createdAt = new Date(tenant.createdMs);
    return {
      link,
      content: await ownTopics.show(shape, { hubUrl, topicUrl, tenant: tenantId, type, createdAt }),
    };
  }

  function theHub(): HubConfig {
    if (options.hub !== null) return options.hub;
    throw new PosthornError("websub_disabled", "This server is not a WebSub hub.");
  }
}

/** Requests are not queued for longer. */
const MAX_WAIT_MINUTES = 10;
