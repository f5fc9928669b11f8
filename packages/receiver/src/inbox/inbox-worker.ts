// Processes the inbox and prunes expired messages. It wakes when this process accepts a message, and polls for messages of
// other processes, due retries and expired leases.
import { backoff } from "../handle/decide-failure.ts";
import { processClaim } from "../handle/process-claim.ts";
import type { Runtime } from "../runtime.ts";
import type { Service } from "../service.ts";
import type { Claim } from "../store.ts";
import { drain, InFlight } from "./in-flight.ts";
import { pruneAll } from "./prune.ts";

const PRUNE_EVERY_MS = 10 * 60_000;
/** While the store is unavailable. */
const MAX_WAIT_MS = 30_000;
/** Outside mode inbox, only expired leases are found here. */
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
    if (this.#isStopped) throw new Error("A stopped receiver cannot be started again. Create a new one.");
    if (this.#loop !== undefined) return;
    this.#pruneAtMs = performance.now() + jittered(PRUNE_EVERY_MS);
    this.#loop = this.#run();
  }

  /** Claims nothing more, and resolves when the work in flight has ended or the store hangs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endWait?.();
    await drain(this.#runtime, this.#settled());
  }

  async #settled(): Promise<void> {
    await this.#loop;
    await Promise.all([this.#inFlight.settled(), this.#pruning.settled()]);
  }

  /** Called when a message was accepted. Without a worker in this process, another process must have one. */
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
      this.#pruneIfDue();
      const free = this.#runtime.settings.inbox.concurrency - this.#inFlight.size;
      const claims = await this.#claimDue(free);
      for (const claim of claims) this.#start(claim);
      // If all slots are taken, the next one to be freed wakes the loop; if not, the inbox was empty.
      await this.#wait();
    }
  }

  /** Runs beside the work: pruning ten minutes of a busy receiver takes half a minute. */
  #pruneIfDue(): void {
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
    // There may be more due messages than slots, or the next one of its subject.
    void this.#inFlight.track(() => this.#process(claim)).then(() => this.wake());
  }

  async #process(claim: Claim): Promise<void> {
    const { settings, report } = this.#runtime;
    const policy = { afterTries: settings.afterTries ?? INBOX_TRIES, delayMs: backoff(settings.retries) };
    try {
      await processClaim(this.#runtime, claim, policy);
    } catch (error) {
      // It is claimable again when its lease expires.
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

/** Backs off while the store is unavailable. */
function waitMs(pollMs: number, failures: number): number {
  return Math.max(pollMs, Math.min(MAX_WAIT_MS, pollMs * 2 ** failures));
}

/** A quarter more or less, so that processes do not poll at the same moment. */
function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
