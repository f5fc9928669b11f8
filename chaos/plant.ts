// Bugs that the chaos test must detect. Each replaces source texts while the processes under test load them. A text that
// does not occur exactly once is an error, so a refactoring cannot disable a bug unnoticed.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FaultKind } from "./faults/faults.ts";

export interface Edit {
  /** Path below packages/. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export interface Plant {
  readonly bug: string;
  /** The invariant that must be violated; others may be violated too. */
  readonly breaks: string;
  /** By path below packages/, the texts to replace. */
  readonly edits: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The faults that trigger it. If empty, faulty receivers suffice, and the run is short. */
  readonly faults: readonly FaultKind[];
}

const settle = "posthorn/src/storage/queries/queue/settle.ts";
const promote = "posthorn/src/storage/queries/queue/promote.ts";
const connector = "posthorn/src/attempt/guard/guarded-connector.ts";

export const plants = {
  "ack-before-commit": {
    bug: "a publish is acknowledged before its event is stored",
    breaks: "lost",
    edits: {
      "posthorn/src/publish/publisher.ts": {
        "      this.#waitingBytes += event.payload.byteLength;\n": `      this.#waitingBytes += event.payload.byteLength;
      resolve({ id: formatId("evt", event.id), sequence: null, duplicate: false, deliveries: null });\n`,
      },
    },
    faults: ["restart database", "kill api"],
  },
  "settle-without-token": {
    bug: "a worker that was declared dead settles a delivery of another worker",
    breaks: "ledger",
    edits: {
      [settle]: {
        "and q.claimed_by = $1::integer\n    and q.attempts = 0\n": "",
        'anyOf("$13")}\n    and q.claimed_by = $1::integer\n': 'anyOf("$13")}\n',
        'anyOf("$16")}\n    and q.claimed_by = $1::integer\n': 'anyOf("$16")}\n',
        "  from posthorn.workers w\n  where w.id = $1::integer\n  for key share\n":
          "  from (select $1::integer as id, '00000000-0000-0000-0000-000000000000'::uuid as claims_since) w\n",
        "  where (attempt.id in (select id from settled)) is true\n":
          "  where (attempt.id in (select id from settled)) is true\n  on conflict do nothing\n",
      },
    },
    faults: ["freeze worker"],
  },
  "no-lease-reclaim": {
    bug: "the deliveries of a dead worker are never released",
    breaks: "convergence",
    edits: {
      "posthorn/src/storage/queries/workers/reap.ts": {
        "    if (!(await lockDead(tx, worker.id, worker.leaseExpiresMs))) return null;\n":
          "    if (worker.leaseExpiresMs !== null) return null;\n",
      },
    },
    faults: ["kill worker"],
  },
  "reap-without-claims": {
    bug: "reaping a worker forgets deliveries that have no queue row",
    breaks: "lost",
    edits: {
      "posthorn/src/storage/queries/workers/reap.ts": {
        "    await addQueueRowsOf(tx, worker.id);\n": "",
      },
    },
    faults: ["kill worker"],
  },
  "reap-without-record": {
    bug: "reaping a worker records no attempt with an unknown outcome",
    breaks: "ledger",
    edits: {
      "posthorn/src/storage/queries/workers/reap.ts": {
        "  select id, attempts, 'unknown', trigger, $1::integer\n  from released\n":
          "  select id, attempts, 'unknown', trigger, $1::integer\n  from released\n  where false\n",
      },
    },
    faults: ["kill worker"],
  },
  "unrecorded-retry": {
    bug: "a failed request is repeated at once without being recorded",
    breaks: "ledger",
    edits: {
      "posthorn/src/delivery/pipeline.ts": {
        "  const outcome = await target.destination.attempt(delivery, target, { startedAt, traceparent }, stages);\n": `  const attempt = () => target.destination.attempt(delivery, target, { startedAt, traceparent }, stages);
  const first = await attempt();
  const outcome = first.kind === "responded" ? first : await attempt();\n`,
      },
    },
    faults: [],
  },
  "guard-on-lookup-only": {
    bug: "a literal address is dialled without a check",
    breaks: "canaries",
    edits: {
      "posthorn/src/attempt/guard/check-url.ts": {
        "if (isAllowedAddress(host, family === 6 ? 6 : 4, policy)) return null;":
          "if (family !== 0) return null;",
      },
      [connector]: {
        "else if (isAllowed(this.#hostname, this.#options.policy)) this.#dial":
          "else if (this.#port > 0) this.#dial",
        "return isAllowed(peer, policy) ? null : new BlockedAddressError();": "return null;",
      },
    },
    faults: [],
  },
  "sign-reserialized-json": {
    bug: "the signature covers re-encoded JSON instead of the bytes sent",
    breaks: "phantom",
    edits: {
      "posthorn/src/destinations/webhook/build-request.ts": {
        'const message = { id, timestamp, body, method: "POST", url };': `const again = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString())));
  const message = { id, timestamp, body: again, method: "POST", url };`,
      },
    },
    faults: [],
  },
  "own-clock": {
    bug: "a worker uses its machine's clock instead of the database's",
    breaks: "timestamps",
    edits: {
      "posthorn/src/service/clock.ts": {
        "    this.#originMs = Math.min(Math.max(this.#originMs, databaseMs - receivedAt), databaseMs - requestedAt);\n":
          "    if (databaseMs < 0) this.#originMs = requestedAt + receivedAt;\n",
      },
    },
    faults: [],
  },
  "wall-clock": {
    bug: "between lease renewals a worker uses the wall clock, which may jump",
    breaks: "timestamps",
    edits: {
      "posthorn/src/service/clock.ts": {
        "    this.#originMs = Math.min(Math.max(this.#originMs, databaseMs - receivedAt), databaseMs - requestedAt);\n":
          "    this.#originMs = databaseMs - Date.now() + (requestedAt + receivedAt) * 0;\n",
        "Math.round(this.#originMs + performance.now())": "Math.round(this.#originMs + Date.now())",
      },
    },
    faults: ["jump clock"],
  },
  "no-backoff": {
    bug: "a failed delivery is retried without delay",
    breaks: "schedule",
    edits: {
      "posthorn/src/settle/decide.ts": {
        "  if (delayMs !== null) return retryAfter(delayMs);\n":
          "  if (delayMs !== null) return retryAfter(1);\n",
      },
    },
    faults: [],
  },
  "late-fetch": {
    bug: "due deliveries are fetched three seconds late",
    breaks: "liveness",
    edits: {
      "posthorn/src/storage/queries/queue/fetch.ts": {
        "and q.next_at <= posthorn.now()\n    order by":
          "and q.next_at <= posthorn.now() - interval '3 seconds'\n    order by",
      },
    },
    faults: [],
  },
  "late-reap": {
    bug: "a dead worker is reaped long after its lease expired",
    breaks: "recovery",
    edits: {
      "posthorn/src/delivery/lease.ts": {
        "if (!other.sessionGone && !(other.leaseEnded && isUnchanged)) continue;":
          "if (!(other.leaseEnded && now - since >= 4 * leaseMs && isUnchanged)) continue;",
      },
    },
    faults: ["kill worker", "jump clock"],
  },
  "order-by-id": {
    bug: "a subject is ordered by event id, which is generated before the commit, instead of sequence",
    breaks: "order",
    edits: {
      "posthorn/src/storage/queries/queue/is-first-in-subject.ts": {
        "and earlier.sequence < ${row}.sequence": `and earlier.id < \${row}.id`,
      },
      [promote]: {
        "and q.subject = freed.subject\n    order by q.sequence":
          "and q.subject = freed.subject\n    order by q.id",
        "and q.subject = scanned.subject\n    order by q.sequence":
          "and q.subject = scanned.subject\n    order by q.id",
      },
    },
    // delays one publisher's commits, so its ids are older than those of others
    faults: ["slow network"],
  },
  "cap-forgotten": {
    bug: "an endpoint gets more concurrent requests than its limit",
    breaks: "cap",
    edits: {
      "posthorn/src/delivery/lane.ts": {
        "this.isOpen && this.inFlight < this.cap && !this.isBlocked;": "this.isOpen && !this.isBlocked;",
      },
    },
    faults: ["kill api"],
  },
  "circuit-never-closes": {
    bug: "the circuit of a recovered endpoint stays half-open",
    breaks: "convergence",
    edits: {
      "posthorn/src/settle/endpoint-health.ts": {
        "  if (allowance > maxInFlight) return healthy;\n":
          "  if (allowance > maxInFlight && maxInFlight < 0) return healthy;\n",
      },
    },
    faults: ["kill api"],
  },
  "one-slot": {
    bug: "a worker sends one request at a time",
    breaks: "latency",
    edits: {
      "posthorn/src/delivery/lanes.ts": {
        "this.#slots = new TenantShares(concurrency);":
          "this.#slots = new TenantShares(Math.min(1, concurrency));",
      },
    },
    faults: ["kill api"],
  },
  leak: {
    bug: "memory of sent deliveries is never freed",
    breaks: "memory",
    edits: {
      "posthorn/src/delivery/pipeline.ts": {
        "  const startedAt = new Date(stages.nowMs());\n": `  Object.assign(globalThis, { kept: [(globalThis as { kept?: unknown }).kept, Buffer.alloc(2 ** 20, 1)] });
  const startedAt = new Date(stages.nowMs());\n`,
      },
    },
    faults: ["kill api"],
  },
} as const satisfies Record<string, Plant>;

export type PlantName = keyof typeof plants;
export const plantNames = Object.keys(plants) as PlantName[];

const packages = fileURLToPath(new URL("../packages/", import.meta.url));

/** Returns the edits of a bug. Throws if one of its texts does not occur exactly once. */
export function editsOf(name: PlantName | null): readonly Edit[] {
  if (name === null) return [];
  const { edits }: Plant = plants[name];
  const flat = Object.entries(edits).flatMap(([file, texts]) =>
    Object.entries(texts).map(([find, put]) => ({ file, find, put })),
  );
  for (const { file, find } of flat) {
    const count = readFileSync(packages + file, "utf8").split(find).length - 1;
    if (count === 1) continue;
    throw new Error(
      `"${name}" cannot be planted: its text occurs ${count} times in packages/${file} instead of once. Update chaos/plant.ts.`,
    );
  }
  return flat;
}
