// Processes the inbox and prunes expired messages. It wakes when this process accepts a message, and polls for messages of
// other processes, due retries and expired leases.
import { backoff } from "../handle/decide-failure.ts";
import { processClaim } from "../handle/process-claim.ts";
import type { Runtime } from "../runtime.ts";
import { jittered, PollLoop, type Service } from "../service.ts";
import type { AcceptOptions, Claim, Store } from "../store.ts";
import { drain, InFlight } from "./in-flight.ts";

const PRUNE_EVERY_MS = 10 * 60_000;
/** While the store is unavailable. */
const MAX_WAIT_MS = 30_000;
/** Outside mode inbox, only expired leases are found here. */
const IDLE_POLL_MS = 60_000;
const INBOX_FAILURES = 10;

export class InboxWorker<Tx> implements Service {
  readonly #runtime: Runtime<Tx>;
  readonly #pollMs: number;
  readonly #loop = new PollLoop("receiver", () => this.#step());
  readonly #inFlight = new InFlight();
  readonly #pruning = new InFlight();
  #hasWarned = false;
  #failures = 0;
  #pruneAtMs = 0;

  constructor(runtime: Runtime<Tx>) {
    this.#runtime = runtime;
    this.#pollMs = runtime.settings.mode === "inbox" ? runtime.settings.inbox.pollMs : IDLE_POLL_MS;
  }

  async start(): Promise<void> {
    if (!this.#loop.isStarted) this.#pruneAtMs = performance.now() + jittered(PRUNE_EVERY_MS);
    await this.#loop.start();
  }

  /** Claims nothing more, and resolves when the work in flight has ended or the store hangs. */
  async stop(): Promise<void> {
    await drain(this.#runtime, this.#settled());
  }

  async #settled(): Promise<void> {
    await this.#loop.stop();
    await Promise.all([this.#inFlight.settled(), this.#pruning.settled()]);
  }

  /** Called when a message was accepted. Without a worker in this process, another process must have one. */
  wake(): void {
    if (!this.#loop.isStarted && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#runtime.report.notStarted();
    }
    this.#loop.wake();
  }

  /** If all slots are taken, the next one to be freed wakes the loop; if not, the inbox was empty. */
  async #step(): Promise<number> {
    this.#pruneIfDue();
    const free = this.#runtime.settings.inbox.concurrency - this.#inFlight.size;
    for (const claim of await this.#claimDue(free)) this.#start(claim);
    return waitMs(this.#pollMs, this.#failures);
  }

  /** Runs beside the work: pruning ten minutes of a busy receiver takes half a minute. */
  #pruneIfDue(): void {
    if (performance.now() < this.#pruneAtMs || this.#pruning.size > 0) return;
    this.#pruneAtMs = performance.now() + jittered(PRUNE_EVERY_MS);
    const { store, settings, report } = this.#runtime;
    this.#pruning
      .track(() => pruneAll(store, settings.claimOptions, () => !this.#loop.isStopped))
      .catch((error) => report.failure(null, error, 0));
  }

  async #claimDue(free: number): Promise<Claim[]> {
    const { store, settings, report } = this.#runtime;
    try {
      const claims = free > 0 ? await store.claimDue(free, settings.claimOptions) : [];
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
    const policy = {
      afterFailures: settings.afterFailures ?? INBOX_FAILURES,
      delayMs: backoff(settings.retries),
    };
    try {
      await processClaim(this.#runtime, claim, policy);
    } catch (error) {
      // It is claimable again when its lease expires.
      report.failure(claim.message, error, 0);
    }
  }
}

/** Backs off while the store is unavailable. */
function waitMs(pollMs: number, failures: number): number {
  return Math.max(pollMs, Math.min(MAX_WAIT_MS, pollMs * 2 ** failures));
}

const PRUNE_STEP = 1_000;

/** Deletes messages past the window in steps that hold no lock for long. Returns the number of rows deleted. */
export async function pruneAll(
  store: Store,
  options: AcceptOptions,
  shouldContinue: () => boolean = () => true,
): Promise<number> {
  let deleted = 0;
  while (shouldContinue()) {
    const step = await store.prune(PRUNE_STEP, options);
    if (step === 0) break;
    deleted += step;
  }
  return deleted;
}
