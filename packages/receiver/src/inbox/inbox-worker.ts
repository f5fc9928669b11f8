// Works on what the inbox holds and forgets what is past the window. Woken when this process accepts a message, it
// looks now and then for what others accepted, for retries that are due, and for what dead processes left.
import { backoff } from "../handle/decide-failure.ts";
import { workClaim } from "../handle/process-claim.ts";
import type { Kit } from "../runtime.ts";
import type { Service } from "../service.ts";
import type { Claim } from "../store.ts";
import { endOrGiveUp, Ongoing } from "./in-flight.ts";
import { pruneAll } from "./prune.ts";

const PRUNE_EVERY_MS = 10 * 60_000;
/** While the store is away. */
const MAX_REST_MS = 30_000;
/** Outside of mode inbox only what crashed processes left is found here. */
const IDLE_POLL_MS = 60_000;
const INBOX_TRIES = 10;

export class InboxWorker<Tx> implements Service {
  readonly #kit: Kit<Tx>;
  readonly #pollMs: number;
  readonly #inHand = new Ongoing();
  readonly #pruning = new Ongoing();
  #loop: Promise<void> | undefined;
  #isStopped = false;
  #isWoken = false;
  #hasWarned = false;
  #endRest: (() => void) | undefined;
  #failures = 0;
  #pruneAtMs = 0;

  constructor(kit: Kit<Tx>) {
    this.#kit = kit;
    this.#pollMs = kit.settings.mode === "inbox" ? kit.settings.inbox.pollMs : IDLE_POLL_MS;
  }

  async start(): Promise<void> {
    if (this.#isStopped) throw new Error("This receiver was stopped; create another one to start again.");
    if (this.#loop !== undefined) return;
    this.#pruneAtMs = performance.now() + jittered(PRUNE_EVERY_MS);
    this.#loop = this.#run();
  }

  /** Takes nothing more, and resolves when what it has is worked on, or must have been but for a store that hangs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endRest?.();
    await endOrGiveUp(this.#kit, this.#ended());
  }

  async #ended(): Promise<void> {
    await this.#loop;
    await Promise.all([this.#inHand.ended(), this.#pruning.ended()]);
  }

  /** Something is in the inbox. Without a worker here it stays there, which is meant only where another process has one. */
  wake(): void {
    if (this.#loop === undefined && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#kit.tell.notStarted();
    }
    this.#isWoken = true;
    this.#endRest?.();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      this.#pruneNowAndThen();
      const room = this.#kit.settings.inbox.concurrency - this.#inHand.size;
      const claims = await this.#take(room);
      for (const claim of claims) this.#begin(claim);
      // With all hands full the next that is free looks again; with room left there was nothing more to take.
      await this.#rest();
    }
  }

  /** Beside the work: what a busy receiver forgets of ten minutes takes half a minute. */
  #pruneNowAndThen(): void {
    if (performance.now() < this.#pruneAtMs || this.#pruning.size > 0) return;
    this.#pruneAtMs = performance.now() + jittered(PRUNE_EVERY_MS);
    const { store, settings, tell } = this.#kit;
    this.#pruning
      .during(() => pruneAll(store, settings.terms, () => !this.#isStopped))
      .catch((error) => tell.failure(null, error, 0));
  }

  async #take(room: number): Promise<Claim[]> {
    const { store, settings, tell } = this.#kit;
    try {
      const claims = room > 0 ? await store.take(room, settings.terms) : [];
      this.#failures = 0;
      return claims;
    } catch (error) {
      this.#failures += 1;
      tell.failure(null, error, 0);
      return [];
    }
  }

  #begin(claim: Claim): void {
    // There may be more than there was room for, or the next of its subject.
    void this.#inHand.during(() => this.#work(claim)).then(() => this.wake());
  }

  async #work(claim: Claim): Promise<void> {
    const { settings, tell } = this.#kit;
    const policy = { afterTries: settings.afterTries ?? INBOX_TRIES, delayMs: backoff(settings.retries) };
    try {
      await workClaim(this.#kit, claim, policy);
    } catch (error) {
      // Left to the end of its lease.
      tell.failure(claim.message, error, 0);
    }
  }

  async #rest(): Promise<void> {
    if (this.#isWoken || this.#isStopped) return;
    const ms = jittered(restMs(this.#pollMs, this.#failures));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endRest = undefined;
  }
}

/** A store that is away is asked less and less often. */
function restMs(pollMs: number, failures: number): number {
  return Math.max(pollMs, Math.min(MAX_REST_MS, pollMs * 2 ** failures));
}

/** A quarter more or less, so that many processes do not ask at the same moment. */
function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
