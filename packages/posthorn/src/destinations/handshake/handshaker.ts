// Asks endpoints whether they accept webhooks, with one OPTIONS request each. The database holds what is due, so any
// process may ask and a crash loses nothing; at worst an endpoint is asked twice.
import type { AttemptOutcome, HandshakeDecision, PreparedRequest } from "../../model.ts";
import type { Logger } from "../../observe/log.ts";
import { InFlight } from "../../service/in-flight.ts";
import { Loop } from "../../service/loop.ts";
import type { Queryable } from "../../storage/database.ts";
import { claimHandshakes, type DueHandshake } from "../../storage/queries/handshakes/claim.ts";
import type { DestinationService } from "../destination.ts";
import { decideHandshake } from "./decide-handshake.ts";

export interface HandshakerOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly userAgent: string;
  /** Base URL of the callback; null if endpoints get none. */
  readonly publicUrl: string | null;
  readonly timeoutMs: number;
  readonly send: (request: PreparedRequest, signal: AbortSignal) => Promise<AttemptOutcome>;
  readonly settle: (asked: DueHandshake, decision: HandshakeDecision) => Promise<void>;
}

const pollMs = 5_000;
/** Longer than the longest timeout of an endpoint. */
const leaseMs = 120_000;
const limits = { maxInFlight: 50, batchSize: 10 };

export class Handshaker implements DestinationService {
  readonly publishes = false;
  readonly maintenanceTasks = {};
  readonly #options: HandshakerOptions;
  readonly #loop: Loop;
  readonly #inFlight: InFlight<DueHandshake>;
  readonly #abort = new AbortController();

  constructor(options: HandshakerOptions) {
    this.#options = options;
    this.#inFlight = new InFlight({
      ...limits,
      claim: (limit) => claimHandshakes(options.db, { limit, leaseMs }),
      work: (asked) => this.#ask(asked).catch((error) => this.#complain(asked, error)),
    });
    this.#loop = new Loop({
      name: "requesting permission of endpoints",
      intervalMs: pollMs,
      logger: options.logger,
      step: () => this.#inFlight.begin(),
    });
    this.#inFlight.onFree = () => this.#loop.wake();
  }

  async start(): Promise<void> {
    await this.#loop.start();
  }

  async stop(graceMs: number): Promise<void> {
    const abort = setTimeout(() => this.#abort.abort(), graceMs);
    await this.#loop.stop();
    await this.#inFlight.drain();
    clearTimeout(abort);
  }

  wake(): void {
    this.#loop.wake();
  }

  async runNow(): Promise<void> {
    await this.#loop.runNow();
    await this.#inFlight.drain();
  }

  /** The handshake is due again when its lease expires. */
  #complain({ tenant, endpointId }: DueHandshake, error: Error): void {
    const { message } = error;
    this.#options.logger.warn("an endpoint could not be asked for permission", {
      tenant,
      endpointId,
      error: message,
    });
  }

  async #ask(asked: DueHandshake): Promise<void> {
    const { send, settle, publicUrl, logger } = this.#options;
    const outcome = await send(this.#requestFor(asked), this.#abort.signal);
    // this process is stopping: another one asks when the lease expires
    if (outcome.kind === "failed" && outcome.error === "unknown") return;
    const decision = decideHandshake(outcome, { ...asked, hasCallback: publicUrl !== null });
    await settle(asked, decision);
    const { endpointId, tenant } = asked;
    if (decision.state !== "granted")
      logger.warn("an endpoint does not allow webhooks", { tenant, endpointId, ...decision });
  }

  #requestFor({ tenant, url, timeoutMs, origin, rate, callbackToken }: DueHandshake): PreparedRequest {
    const { userAgent, publicUrl } = this.#options;
    const headers: Record<string, string> = { "user-agent": userAgent, "WebHook-Request-Origin": origin };
    if (publicUrl !== null)
      headers["WebHook-Request-Callback"] = `${publicUrl}/webhook-grants/${callbackToken}`;
    if (rate !== null) headers["WebHook-Request-Rate"] = String(rate);
    return {
      tenant,
      url,
      method: "OPTIONS",
      headers,
      body: new Uint8Array(),
      timeoutMs: timeoutMs ?? this.#options.timeoutMs,
      captureResponse: { maxBodyBytes: 1_024 },
    };
  }
}
