// Bugs to plant, each a change of named source texts while the processes under test load them. A checker that never
// failed proves nothing; and a text that is no longer there exactly once is an error, so that no refactoring disarms one.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StrikeKind } from "./strikes.ts";

export interface Edit {
  /** From packages/. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export interface Plant {
  /** What is wrong with the engine then. */
  readonly bug: string;
  /** The promise that must be found broken; others may be broken with it. */
  readonly breaks: string;
  readonly edits: readonly Edit[];
  /** The strikes that bring it out. None: receivers that misbehave are enough, and the run is short and has no black hole. */
  readonly strikes: readonly StrikeKind[];
}

const settle = "posthorn/src/storage/queries/queue/settle.ts";
const promote = "posthorn/src/storage/queries/queue/promote.ts";
const connector = "posthorn/src/attempt/guard/guarded-connector.ts";

export const plants = {
  "ack-before-commit": {
    bug: "a publish is answered before its event is stored",
    breaks: "lost",
    edits: [
      {
        file: "posthorn/src/event/publisher.ts",
        find: "      this.#waiting.push(entry);\n",
        put: `      this.#waiting.push(entry);
      resolve({ id: formatId("evt", event.id), sequence: null, duplicate: false, deliveries: null });\n`,
      },
    ],
    strikes: ["restart database", "kill api"],
  },
  "settle-without-token": {
    bug: "a worker that was declared dead settles what is somebody else's by now",
    breaks: "ledger",
    edits: [
      {
        file: settle,
        find: "where q.id = any ($2::uuid[])\n    and q.claimed_by = $1::integer\n",
        put: "where q.id = any ($2::uuid[])\n",
      },
      {
        file: settle,
        find: "where q.id = any ($5::uuid[])\n    and q.claimed_by = $1::integer\n",
        put: "where q.id = any ($5::uuid[])\n",
      },
      {
        file: settle,
        find: "  where (said.id in (select id from settled)) is true\n",
        put: "  where (said.id in (select id from settled)) is true\n  on conflict do nothing\n",
      },
    ],
    strikes: ["freeze worker"],
  },
  "no-lease-reclaim": {
    bug: "what a dead worker held is never owed again",
    breaks: "convergence",
    edits: [
      {
        file: "posthorn/src/storage/queries/workers/reap.ts",
        find: "    if (dead === undefined) return null;\n",
        put: "    if (dead === undefined || suspect.until !== null) return null;\n",
      },
    ],
    strikes: ["kill worker"],
  },
  "burial-without-record": {
    bug: "what a dead worker may have sent is sent again without a word",
    breaks: "ledger",
    edits: [
      {
        file: "posthorn/src/storage/queries/workers/reap.ts",
        find: "  select id, attempts, 'unknown', trigger, $1::integer\n  from returned\n",
        put: "  select id, attempts, 'unknown', trigger, $1::integer\n  from returned\n  where false\n",
      },
    ],
    strikes: ["kill worker"],
  },
  "unrecorded-retry": {
    bug: "a request that failed is repeated at once behind the schedule's back",
    breaks: "ledger",
    edits: [
      {
        file: "posthorn/src/pipeline.ts",
        find: "  const outcome = await target.destination.attempt(delivery, target, { startedAt, traceparent }, stages);\n",
        put: `  const attempt = () => target.destination.attempt(delivery, target, { startedAt, traceparent }, stages);
  const first = await attempt();
  const outcome = first.kind === "answered" ? first : await attempt();\n`,
      },
    ],
    strikes: [],
  },
  "guard-on-lookup-only": {
    bug: "an address that is written as such is dialled without being looked at",
    breaks: "canaries",
    edits: [
      {
        file: "posthorn/src/attempt/guard/check-url.ts",
        find: "if (family !== 0) return isAllowedAddress(host, family === 6 ? 6 : 4, policy) ? null : refusal(host);",
        put: "if (family !== 0) return null;",
      },
      {
        file: connector,
        find: "else if (!isAllowed(hostname, policy)) throw new BlockedAddressError();",
        put: "",
      },
      {
        file: connector,
        find: "return isAllowed(peer, policy) ? null : new BlockedAddressError();",
        put: "return null;",
      },
    ],
    strikes: [],
  },
  "sign-reserialized-json": {
    bug: "what is signed was parsed and written again, and is not what is sent",
    breaks: "phantom",
    edits: [
      {
        file: "posthorn/src/destinations/webhook/build-request.ts",
        find: 'const message = { id, timestamp, body, method: "POST", url };',
        put: `const again = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString())));
  const message = { id, timestamp, body: again, method: "POST", url };`,
      },
    ],
    strikes: [],
  },
  "own-clock": {
    bug: "a worker goes by its machine's clock and not by the database's",
    breaks: "timestamps",
    edits: [
      {
        file: "posthorn/src/service/clock.ts",
        find: "    this.#originMs = databaseMs - (askedAt + answeredAt) / 2;\n",
        put: "    if (databaseMs < 0) this.#originMs = databaseMs - (askedAt + answeredAt) / 2;\n",
      },
    ],
    strikes: [],
  },
  "wall-clock": {
    bug: "between two renewals a worker goes by its machine's clock, which may jump",
    breaks: "timestamps",
    edits: [
      {
        file: "posthorn/src/service/clock.ts",
        find: "    this.#originMs = databaseMs - (askedAt + answeredAt) / 2;\n",
        put: "    this.#originMs = databaseMs - Date.now() + (askedAt + answeredAt) * 0;\n",
      },
      {
        file: "posthorn/src/service/clock.ts",
        find: "Math.round(this.#originMs + performance.now())",
        put: "Math.round(this.#originMs + Date.now())",
      },
    ],
    strikes: ["jump clock"],
  },
  "no-backoff": {
    bug: "a delivery that failed is owed again at once",
    breaks: "schedule",
    edits: [
      {
        file: "posthorn/src/settle/decide.ts",
        find: "  if (delayMs !== null) return retryAfter(delayMs);\n",
        put: "  if (delayMs !== null) return retryAfter(1);\n",
      },
    ],
    strikes: [],
  },
  "late-fetch": {
    bug: "what is due is looked for three seconds later",
    breaks: "liveness",
    edits: [
      {
        file: "posthorn/src/storage/queries/queue/fetch.ts",
        find: "and q.next_at <= posthorn.now()\n    order by",
        put: "and q.next_at <= posthorn.now() - interval '3 seconds'\n    order by",
      },
    ],
    strikes: [],
  },
  "late-burial": {
    bug: "a dead worker is buried long after its lease has ended",
    breaks: "recovery",
    edits: [
      {
        file: "posthorn/src/delivery/lease.ts",
        find: "if (!other.sessionGone && !(other.leaseEnded && stoodStill)) continue;",
        put: "if (!(other.leaseEnded && now - since >= 4 * leaseMs && stoodStill)) continue;",
      },
    ],
    strikes: ["kill worker", "jump clock"],
  },
  "order-by-id": {
    bug: "the turn in a subject goes by the event's id, which is minted before the commit, and not by its sequence",
    breaks: "order",
    edits: [
      {
        file: "posthorn/src/storage/queries/queue/is-first-in-subject.ts",
        find: `and earlier.sequence < \${row}.sequence`,
        put: `and earlier.id < \${row}.id`,
      },
      {
        file: promote,
        find: "and q.subject = freed.subject\n    order by q.sequence",
        put: "and q.subject = freed.subject\n    order by q.id",
      },
      {
        file: promote,
        find: "and q.subject = walked.subject\n    order by q.sequence",
        put: "and q.subject = walked.subject\n    order by q.id",
      },
    ],
    // one publisher's ids are old by the time they are committed, and those of the others are not
    strikes: ["slow network"],
  },
  "cap-forgotten": {
    bug: "an endpoint gets more requests at once than it asked for",
    breaks: "cap",
    edits: [
      {
        file: "posthorn/src/delivery/lane.ts",
        find: "!this.isClosing && this.inFlight < this.cap && !this.isBlocked;",
        put: "!this.isClosing && !this.isBlocked;",
      },
    ],
    strikes: ["kill api"],
  },
  "circuit-never-closes": {
    bug: "an endpoint that is well again stays on trial",
    breaks: "convergence",
    edits: [
      {
        file: "posthorn/src/settle/endpoint-health.ts",
        find: "  if (allowance > maxInFlight) return well;\n",
        put: "  if (allowance > maxInFlight && maxInFlight < 0) return well;\n",
      },
    ],
    strikes: ["kill api"],
  },
  "one-place": {
    bug: "a worker waits for one endpoint before it serves the next",
    breaks: "latency",
    edits: [
      {
        file: "posthorn/src/delivery/lanes.ts",
        find: "this.#places = new TenantShares(options.concurrency);",
        put: "this.#places = new TenantShares(Math.min(1, options.concurrency));",
      },
    ],
    strikes: ["kill api"],
  },
  leak: {
    bug: "what was sent is never let go of",
    breaks: "memory",
    edits: [
      {
        file: "posthorn/src/pipeline.ts",
        find: "  const startedAt = stages.now();\n",
        put: `  Object.assign(globalThis, { kept: [(globalThis as { kept?: unknown }).kept, Buffer.alloc(2 ** 20, 1)] });
  const startedAt = stages.now();\n`,
      },
    ],
    strikes: ["kill api"],
  },
} as const satisfies Record<string, Plant>;

export type PlantName = keyof typeof plants;
export const plantNames = Object.keys(plants) as PlantName[];

const packages = fileURLToPath(new URL("../packages/", import.meta.url));

/** What a child needs to know; throws for a text that is not there exactly once. */
export function editsOf(name: PlantName | null): readonly Edit[] {
  if (name === null) return [];
  const { edits }: Plant = plants[name];
  for (const { file, find } of edits) {
    const count = readFileSync(packages + file, "utf8").split(find).length - 1;
    if (count === 1) continue;
    throw new Error(
      `"${name}" cannot be planted: its text is in packages/${file} ${count} times, and must be there once. Bring chaos/plant.ts up to date.`,
    );
  }
  return edits;
}
