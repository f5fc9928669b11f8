// The content of our own topics, which anyone may request at any rate. Few are read at a time, so that publishes do
// not wait behind them, and a popular feed is built once.
import { createHash } from "node:crypto";
import { setImmediate as othersHadTheirTurn } from "node:timers/promises";
import { contentOf } from "../../formats/formats.ts";
import type { Event, Uuid } from "../../model.ts";
import { Semaphore } from "../../service/semaphore.ts";
import type { Queryable } from "../../storage/database.ts";
import { newestOfType, readEvents } from "../../storage/queries/events/newest-of-type.ts";
import { atomEntry, atomFeed, FEED_CONTENT_TYPE, type FeedFacts } from "./atom-feed.ts";
import { OWN_TOPIC_FORMAT, TOPIC_CONTEXT, type TopicShape } from "./topics.ts";

export interface TopicPage {
  /** The same for the same events, redacted the same way. */
  readonly tag: string;
  readonly contentType: string;
  /** Built on demand: a client that has the current version needs none. */
  readonly body: () => Promise<Uint8Array>;
}

export type TopicFacts = Omit<FeedFacts, "updatedAt"> & {
  /** Used by a feed without entries. */
  readonly createdAt: Date;
};

/** Feed readers accept a megabyte. */
const SHOWN: Readonly<Record<TopicShape, { readonly limit: number; readonly maxBytes: number }>> = {
  envelope: { limit: 1, maxBytes: 0 },
  atom: { limit: 50, maxBytes: 1024 * 1024 },
};
/** A process has ten connections. */
const readAtOnce = 2;
const KEPT_BYTES = 16 * 1024 * 1024;

/** How events of a type are redacted. */
export interface RedactedView {
  /** Differs if any redacted path does. */
  readonly version: string;
  readonly redact: (event: Event) => Event;
}

export interface OwnTopicsOptions {
  readonly db: Queryable;
  readonly redactedView: (type: string) => Promise<RedactedView>;
  readonly maxKeptBytes?: number;
}

export class OwnTopics {
  readonly #options: OwnTopicsOptions;
  readonly #semaphore = new Semaphore(readAtOnce);
  /** By topic, the least recently requested first. */
  readonly #feeds = new Map<string, KeptFeed>();
  #keptBytes = 0;

  constructor(options: OwnTopicsOptions) {
    this.#options = options;
  }

  /** Returns null if there is no event of the type among the tenant's last 2 000. */
  async show(shape: TopicShape, facts: TopicFacts): Promise<TopicPage | null> {
    const { db, redactedView } = this.#options;
    const { tenant, type } = facts;
    const { ids, view } = await this.#semaphore.run(async () => ({
      ids: await newestOfType(db, tenant, type, SHOWN[shape]),
      view: await redactedView(type),
    }));
    const tag = createHash("sha256").update(`${ids.join()} ${view.version}`).digest("base64url");
    if (shape === "envelope") return await this.#envelope(tag, ids, view);
    return { tag, contentType: FEED_CONTENT_TYPE, body: () => this.#feed({ tag, ids, view, facts }) };
  }

  /** Byte for byte what subscribers are sent. */
  async #envelope(tag: string, ids: readonly Uuid[], view: RedactedView): Promise<TopicPage | null> {
    const [event] = await this.#semaphore.run(() => readEvents(this.#options.db, ids));
    if (event === undefined) return null;
    const topicFormat = { format: OWN_TOPIC_FORMAT, formatContext: TOPIC_CONTEXT } as const;
    const { contentType, body } = contentOf(view.redact(event), topicFormat);
    return { tag, contentType: contentType as string, body: async () => body };
  }

  #feed(wanted: WantedFeed): Promise<Uint8Array> {
    const { topicUrl } = wanted.facts;
    const known = this.#feeds.get(topicUrl);
    const feed = known?.tag === wanted.tag ? known : this.#begin(wanted);
    // marks it as most recently used
    this.#feeds.delete(topicUrl);
    this.#feeds.set(topicUrl, feed);
    return feed.body;
  }

  #begin(wanted: WantedFeed): KeptFeed {
    const { tag, facts } = wanted;
    this.#drop(facts.topicUrl);
    const feed: KeptFeed = { tag, bytes: 0, body: this.#semaphore.run(() => this.#make(wanted)) };
    feed.body.then(
      (body) => this.#keep(facts.topicUrl, feed, body.length),
      () => this.#feeds.get(facts.topicUrl) === feed && this.#drop(facts.topicUrl),
    );
    return feed;
  }

  async #make({ ids, view, facts }: WantedFeed): Promise<Uint8Array> {
    const events = await readEvents(this.#options.db, ids);
    const entries: string[] = [];
    for (const event of events) {
      entries.push(atomEntry(view.redact(event)));
      await othersHadTheirTurn();
    }
    return atomFeed(entries, { ...facts, updatedAt: events[0]?.createdAt ?? facts.createdAt });
  }

  #keep(topicUrl: string, feed: KeptFeed, bytes: number): void {
    // another feed has replaced it meanwhile
    if (this.#feeds.get(topicUrl) !== feed) return;
    feed.bytes = bytes;
    this.#keptBytes += bytes;
    for (const oldest of this.#feeds.keys()) {
      if (this.#keptBytes <= (this.#options.maxKeptBytes ?? KEPT_BYTES)) break;
      this.#drop(oldest);
    }
  }

  #drop(topicUrl: string): void {
    this.#keptBytes -= this.#feeds.get(topicUrl)?.bytes ?? 0;
    this.#feeds.delete(topicUrl);
  }
}

interface WantedFeed {
  readonly tag: string;
  readonly ids: readonly Uuid[];
  readonly view: RedactedView;
  readonly facts: TopicFacts;
}

interface KeptFeed {
  readonly tag: string;
  readonly body: Promise<Uint8Array>;
  /** 0 while it is being built. */
  bytes: number;
}

/** An envelope refers to neither. */
