// Four publishers: two use the API processes, one the API of the workers, and one the library in its own transactions.
// Each logs what it is about to publish and the result.
import { createHash } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Posthorn } from "posthorn";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { Publish } from "../evidence/evidence.ts";
import { type Random, stream } from "../random.ts";

export interface PublishersOptions {
  readonly seed: number;
  readonly eventsPerSecond: number;
  readonly logPath: string;
  readonly tenants: readonly string[];
  /** URLs of the API processes, running or not. */
  readonly apiUrls: readonly string[];
  readonly workerUrls: readonly string[];
  readonly adminKey: string;
  readonly hooks: Posthorn;
  /** The pool for the library's transactions, with the table `chaos_orders`. */
  readonly pool: pg.Pool;
}

/** What a publisher does with one event; drawn beforehand, so that failures do not change later draws. */
interface Intent {
  readonly publish: Publish;
  readonly data: string;
  readonly pausesMs: readonly [number, number];
  /** Gives up after the first failure, so the event may or may not be stored. */
  readonly givesUpEarly: boolean;
  /** Rolls back its transaction or, over HTTP, sends an invalid event. */
  readonly mustFail: boolean;
  /** Publishes again with the same key after the acknowledgement. */
  readonly publishesTwice: boolean;
}

/** `plain` uses neither subjects nor idempotency keys: its events take the path of the common case. */
const publisherNames = ["h1", "h2", "plain", "library"] as const;
/** Enough events at once that a kill hits deliveries without queue rows. */
const plainBurst = 6;
const subjectsPerTenant = 10;
/** Limit of publishes without a result, per publisher. */
const maxOpen = 40;
const requestTimeoutMs = 8_000;

export class Publishers {
  readonly publishes: Publish[] = [];
  readonly #options: PublishersOptions;
  readonly #log: number;
  readonly #open = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Number of publishes started, by publisher. */
  readonly #counts: Record<string, number> = {};
  readonly #randoms: Record<string, Random>;
  #isOver = false;

  constructor(options: PublishersOptions) {
    this.#options = options;
    this.#log = openSync(options.logPath, "a");
    this.#randoms = Object.fromEntries(
      publisherNames.map((name) => [name, stream(options.seed, `publisher ${name}`)]),
    );
  }

  /** Starts or, after `pause`, resumes publishing. */
  start(): void {
    const gapMs = (publisherNames.length * 1_000) / this.#options.eventsPerSecond;
    const begin = (name: (typeof publisherNames)[number]) => {
      for (let count = 0; count < (name === "plain" ? plainBurst : 1); count += 1) this.#begin(name);
    };
    for (const name of publisherNames) this.#timers.push(setInterval(() => begin(name), gapMs));
  }

  /** Starts no new publishes. Resolves when all have a result, or after `timeoutMs`. */
  async pause(timeoutMs: number): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    const timeout = new AbortController();
    await Promise.race([
      Promise.all(this.#open),
      delay(timeoutMs, undefined, { signal: timeout.signal }).catch(() => {}),
    ]);
    timeout.abort();
  }

  /** Abandons publishes without a result. */
  stop(): void {
    this.#isOver = true;
  }

  #begin(name: (typeof publisherNames)[number]): void {
    if (this.#open.size >= maxOpen * publisherNames.length) return;
    const number = (this.#counts[name] ?? 0) + 1;
    this.#counts[name] = number;
    const intent = this.#draw(name, number, this.#randoms[name] as Random);
    const work = this.#carryOut(intent).finally(() => this.#open.delete(work));
    this.#open.add(work);
  }

  #draw(publisher: string, number: number, random: Random): Intent {
    const isLibrary = publisher === "library";
    const isPlain = publisher === "plain";
    const key = `${publisher}-${number}`;
    const tenant = random.pick(this.#options.tenants);
    // values that parsing and re-encoding would change: 1.0, a number above 2^53, a NUL, an unnecessary escape
    const data = `{"key":"${key}","amount":1.0,"big":12345678901234567890,"text":"☃ \\u0000 \\u0041","pad":"${"x".repeat(Math.floor(random.between(0, 900)))}"}`;
    const publish: Publish = {
      key,
      publisher,
      tenant,
      type: random.chance(0.7) ? "order.paid" : "customer.created",
      subject: isPlain ? null : `${tenant}-${Math.floor(random.between(0, subjectsPerTenant))}`,
      sha256: createHash("sha256").update(data).digest("hex"),
      fate: "open",
      ids: [],
      acknowledgedAt: null,
    };
    return {
      publish,
      data,
      pausesMs: [random.between(50, 150), random.between(150, 400)],
      // without a key, a repeated publish would be another event
      givesUpEarly: isPlain || random.chance(0.1),
      mustFail: random.chance(isLibrary ? 0.2 : 0.02),
      publishesTwice: !isPlain && random.chance(0.05),
    };
  }

  async #carryOut(intent: Intent): Promise<void> {
    const { publish, givesUpEarly, publishesTwice, pausesMs } = intent;
    this.publishes.push(publish);
    this.#write({ what: "intent", ...publish });
    const attempt = publish.publisher === "library" ? this.#byLibrary : this.#byHttp;
    for (let tries = 0; !this.#isOver; tries += 1) {
      const result = await attempt.call(this, intent, tries).catch((): PublishResult => ({ kind: "failed" }));
      if (this.#isOver) return;
      this.#write({ what: result.kind, key: publish.key, ...result });
      if (result.kind === "refused") publish.fate = "refused";
      if (result.kind === "acknowledged") {
        publish.fate = "acknowledged";
        publish.acknowledgedAt ??= monotonicMs();
        publish.ids.push(result.id);
        if (publishesTwice && publish.ids.length === 1) continue;
      }
      if (result.kind !== "failed" || (givesUpEarly && publish.ids.length === 0)) return;
      await delay(tries === 0 ? pausesMs[0] : pausesMs[1]);
    }
  }

  async #byHttp({ publish, data, mustFail }: Intent, tries: number): Promise<PublishResult> {
    const { apiUrls, workerUrls, adminKey } = this.#options;
    const { publisher, tenant, subject, key } = publish;
    const isPlain = publisher === "plain";
    const type = mustFail ? "invalid type with spaces" : publish.type;
    const fields = isPlain ? { tenant, type } : { tenant, type, subject, idempotency_key: key };
    const urls = isPlain ? workerUrls : apiUrls;
    const first = isPlain ? Number(key.slice("plain-".length)) : publisher === "h1" ? 0 : 1;
    const response = await fetch(`${urls[(first + tries) % urls.length]}/api/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: `${JSON.stringify(fields).slice(0, -1)},"data":${data}}`,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    const text = await response.text();
    if (response.status === 202) return { kind: "acknowledged", id: JSON.parse(text).id };
    const isFinal = response.status < 500 && response.status !== 408 && response.status !== 429;
    return isFinal ? { kind: "refused", why: text } : { kind: "failed" };
  }

  /** Publishes in one transaction with an order. After a lost commit reply, the orders table shows whether it committed. */
  async #byLibrary({ publish, data, mustFail }: Intent): Promise<PublishResult> {
    const { hooks, pool } = this.#options;
    const { tenant, type, subject, key } = publish;
    const client = await pool.connect();
    let isClean = false;
    try {
      await client.query("begin");
      const event = { tenant, type, subject: subject as string, rawData: Buffer.from(data) };
      const { id } = await hooks.publish(event, { tx: client });
      const order = await client.query(
        "insert into chaos_orders (key, event_id) values ($1, $2) on conflict do nothing",
        [key, id],
      );
      const isNew = order.rowCount === 1;
      await client.query(isNew && !mustFail ? "commit" : "rollback");
      if (mustFail) {
        isClean = true;
        return { kind: "refused", why: "rolled back" };
      }
      const known = isNew ? id : await knownOrder(client, key);
      isClean = true;
      return { kind: "acknowledged", id: known };
    } catch (error) {
      if (mustFail) return { kind: "refused", why: "never committed" };
      throw error;
    } finally {
      client.release(!isClean);
    }
  }

  #write(line: object): void {
    writeSync(this.#log, `${JSON.stringify({ at: monotonicMs(), ...line })}\n`);
  }
}

type PublishResult =
  | { readonly kind: "acknowledged"; readonly id: string }
  | { readonly kind: "refused"; readonly why: string }
  /** The event may or may not be stored. */
  | { readonly kind: "failed" };

async function knownOrder(client: pg.PoolClient, key: string): Promise<string> {
  const { rows } = await client.query<{ event_id: string }>(
    "select event_id from chaos_orders where key = $1",
    [key],
  );
  return (rows[0] as { event_id: string }).event_id;
}
