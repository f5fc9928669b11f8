// Works on what the inbox holds and forgets what is past the window. Woken when this process accepts a message, it
// looks now and then for what others accepted, for retries that are due, and for what dead processes left.
import { backoff } from "../handle/decide-failure.ts";
import { processClaim } from "../handle/process-claim.ts";
import type { Runtime } from "../runtime.ts";
import type { Service } from "../service.ts";
import type { Claim } from "../store.ts";
import { drain, InFlight } from "./in-flight.ts";
import { pruneAll } from "./prune.ts";

const PRUNE_EVERY_MS = 10 * 60_000;
/** While the store is away. */
const MAX_WAIT_MS = 30_000;
/** Outside of mode inbox only what crashed processes left is found here. */
const IDLE_POLL_MS = 60_000;
const INBOX_TRIES = 10;

export class InboxWorker<Tx> implements Service {
  readonly #runtime: Runtime<Tx>;
  readonly #pollMs: number;
  readonly #inFlight = new InFlight();
  readonly #pruning = new InFlight();
  #loop: Promise<void> | undefined;
  #isStopped = false;
  #isWoken = false;
  #hasWarned = false;
  #endWait: (() => void) | undefined;
  #failures = 0;
  #pruneAtMs = 0;

  constructor(runtime: Runtime<Tx>) {
    this.#runtime = runtime;
    this.#pollMs = runtime.settings.mode === "inbox" ? runtime.settings.inbox.pollMs : IDLE_POLL_MS;
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
    this.#endWait?.();
    await drain(this.#runtime, this.#settled());
  }

  async #settled(): Promise<void> {
    await this.#loop;
    await Promise.all([this.#inFlight.settled(), this.#pruning.settled()]);
  }

  /** Something is in the inbox. Without a worker here it stays there, which is meant only where another process has one. */
  wake(): void {
    if (this.#loop === undefined && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#runtime.report.notStarted();
    }
    this.#isWoken = true;
    this.#endWait?.();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      this.#pruneNowAndThen();
      const free = this.#runtime.settings.inbox.concurrency - this.#inFlight.size;
      const claims = await this.#claimDue(free);
      for (const claim of claims) this.#start(claim);
      // With all hands full the next that is free looks again; with room left there was nothing more to take.
      await this.#wait();
    }
  }

  /** Beside the work: what a busy receiver forgets of ten minutes takes half a minute. */
  #pruneNowAndThen(): void {
    if (performance.now() < this.#pruneAtMs || this.#pruning.size > 0) return;
    this.#pruneAtMs = performance.now() + jittered(PRUNE_EVERY_MS);
    const { store, settings, report } = this.#runtime;
    this.#pruning
      .track(() => pruneAll(store, settings.terms, () => !this.#isStopped))
      .catch((error) => report.failure(null, error, 0));
  }

  async #claimDue(free: number): Promise<Claim[]> {
    const { store, settings, report } = this.#runtime;
    try {
      const claims = free > 0 ? await store.claimDue(free, settings.terms) : [];
      this.#failures = 0;
      return claims;
    } catch (error) {
      this.#failures += 1;
      report.failure(null, error, 0);
      return [];
    }
  }

  #start(claim: Claim): void {
    // There may be more than there was room for, or the next of its subject.
    void this.#inFlight.track(() => this.#process(claim)).then(() => this.wake());
  }

  async #process(claim: Claim): Promise<void> {
    const { settings, report } = this.#runtime;
    const policy = { afterTries: settings.afterTries ?? INBOX_TRIES, delayMs: backoff(settings.retries) };
    try {
      await processClaim(this.#runtime, claim, policy);
    } catch (error) {
      // Left to the end of its lease.
      report.failure(claim.message, error, 0);
    }
  }

  async #wait(): Promise<void> {
    if (this.#isWoken || this.#isStopped) return;
    const ms = jittered(waitMs(this.#pollMs, this.#failures));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endWait = undefined;
  }
}

/** A store that is away is asked less and less often. */
function waitMs(pollMs: number, failures: number): number {
  return Math.max(pollMs, Math.min(MAX_WAIT_MS, pollMs * 2 ** failures));
}

/** A quarter more or less, so that many processes do not ask at the same moment. */
function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
