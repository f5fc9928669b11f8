// Fetches external topics that were pinged, and publishes changed content as an event. The database holds what is
// due: an accepted ping is not lost, and many pings are one fetch.
import { PosthornError } from "../../errors.ts";
import type { AttemptOutcome } from "../../model.ts";
import { ClaimLoop } from "../../service/claim-loop.ts";
import { acquirePermit } from "../../storage/queries/websub/permits.ts";
import {
  claimTopics,
  type DueTopic,
  postponeTopic,
  type SeenContent,
  settleTopic,
} from "../../storage/queries/websub/topics.ts";
import { contentEvent, digestOf, headerText, type TopicContent } from "./content-event.ts";
import type { HubContext } from "./hub.ts";
import { POLL_MS } from "./options.ts";
import { type ExternalTopic, topicOf } from "./topics.ts";

const timeoutMs = 20_000;
const leaseMs = 60_000;
/** Each may hold as many bytes as a topic may have. */
const limits = { maxInFlight: 16, batchSize: 4 };
/** Topics are fetched at most this often, however often they are pinged. */
export const MIN_FETCH_INTERVAL_MS = 10_000;
const retryAfterMs = [10_000, 60_000, 300_000, 1_800_000];
const fetchesPerHost = 60;
const fetchesPerMinute = 600;

export class TopicFetcher extends ClaimLoop<DueTopic> {
  readonly #options: HubContext;

  constructor(options: HubContext) {
    const { db, logger } = options;
    super({
      ...limits,
      name: "fetching topics",
      intervalMs: POLL_MS,
      logger,
      claim: (limit) => claimTopics(db, { limit, leaseMs }),
      work: (due) => this.#work(due),
    });
    this.#options = options;
  }

  async #work(due: DueTopic): Promise<void> {
    try {
      await this.#fetch(due);
    } catch (error) {
      this.#options.logger.warn("a topic could not be processed; it is due again in a minute", {
        host: due.host,
        attempts: due.attempts,
        error: (error as Error).message,
      });
    }
  }

  async #fetch(due: DueTopic): Promise<void> {
    const { db, hub } = this.#options;
    const topic = topicOf(due.url, hub);
    if (topic?.kind !== "external") return await this.#endUntilNextPing(due, "not_served");
    const waitMs = await this.#waitMs(due);
    if (waitMs > 0) return await postponeTopic(db, due, { delayMs: waitMs, isCounted: false });
    const outcome = await this.#get(due);
    if (outcome.kind === "failed") return await this.#afterNoAnswer(due, outcome.error);
    const { statusCode } = outcome;
    if (statusCode === 304) return await this.#settle(due, null, "unchanged");
    if (statusCode === 429 || statusCode >= 500) return await this.#retryLater(due, `http_${statusCode}`);
    // redirects too: subscribers discover where a topic has moved (REC 6)
    if (statusCode !== 200) return await this.#endUntilNextPing(due, `http_${statusCode}`);
    const content = readContent(outcome);
    if (content === null) return await this.#endUntilNextPing(due, "not_readable");
    await this.#distribute(due, topic, content, outcome.response?.headers ?? {});
  }

  #get({ url, etag, lastModified }: DueTopic): Promise<AttemptOutcome> {
    const headers = {
      ...(etag !== null && { "if-none-match": etag }),
      ...(lastModified !== null && { "if-modified-since": lastModified }),
    };
    return this.#options.get(url, { headers, timeoutMs, maxBodyBytes: this.#options.hub.maxTopicBytes });
  }

  async #distribute(
    due: DueTopic,
    topic: ExternalTopic,
    content: TopicContent,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const digest = digestOf(content);
    const validators = { etag: headerText(headers.etag), lastModified: headerText(headers["last-modified"]) };
    if (due.digestHex === digest.toString("hex")) {
      return await this.#settle(due, { ...validators, digest, revision: due.revision }, "unchanged");
    }
    const revision = await this.#publish(topic, content, due.revision + 1);
    await this.#settle(due, { ...validators, digest, revision }, "changed");
  }

  /** Returns the revision that was stored: one published before a crash has taken its own. */
  async #publish(topic: ExternalTopic, content: TopicContent, revision: number): Promise<number> {
    const { publish, nowMs, logger } = this.#options;
    try {
      const { id: eventId } = await publish(contentEvent(topic, content, { revision, nowMs: nowMs() }));
      logger.debug("a topic has changed", { eventId, revision });
      return revision;
    } catch (error) {
      if (!(error instanceof PosthornError) || error.code !== "idempotency_conflict") throw error;
      return await this.#publish(topic, content, revision + 1);
    }
  }

  async #waitMs({ host }: DueTopic): Promise<number> {
    const { db } = this.#options;
    const ofHost = await acquirePermit(db, `topic ${host}`, fetchesPerHost);
    if (!ofHost.isAcquired) return ofHost.waitMs + 1;
    const ofAll = await acquirePermit(db, "topics", fetchesPerMinute);
    return ofAll.isAcquired ? 0 : ofAll.waitMs + 1;
  }

  async #afterNoAnswer(due: DueTopic, error: string): Promise<void> {
    // aborted because this process stops
    if (error === "unknown")
      return await postponeTopic(this.#options.db, due, { delayMs: 0, isCounted: false });
    if (error === "blocked_address" || error === "invalid_request")
      return await this.#endUntilNextPing(due, error);
    await this.#retryLater(due, error);
  }

  async #retryLater(due: DueTopic, result: string): Promise<void> {
    const delayMs = retryAfterMs[due.attempts - 1];
    if (delayMs === undefined) return await this.#endUntilNextPing(due, result);
    await postponeTopic(this.#options.db, due, { delayMs, isCounted: true });
  }

  async #endUntilNextPing(due: DueTopic, reason: string): Promise<void> {
    const { db, logger } = this.#options;
    await settleTopic(db, due, null, MIN_FETCH_INTERVAL_MS);
    this.#options.metrics.count("webhook_websub_fetches_total", "failed");
    logger.warn("a topic could not be fetched; it is fetched again at its next ping", {
      host: due.host,
      reason,
    });
  }

  async #settle(due: DueTopic, seen: SeenContent | null, result: "changed" | "unchanged"): Promise<void> {
    await settleTopic(this.#options.db, due, seen, MIN_FETCH_INTERVAL_MS);
    this.#options.metrics.count("webhook_websub_fetches_total", result);
  }
}

/** Returns null if the content is too long, incomplete, or compressed although that was not requested. */
function readContent(outcome: Extract<AttemptOutcome, { kind: "responded" }>): TopicContent | null {
  const { response, responseBody } = outcome;
  if (response === undefined || !response.isComplete) return null;
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") return null;
  const contentType = headerText(response.headers["content-type"]) ?? "application/octet-stream";
  return { contentType, body: Buffer.from(responseBody) };
}
