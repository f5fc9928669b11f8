// Requests permission from endpoints to send webhooks, with one OPTIONS request each. Due handshakes are in the database,
// so any process may send the request and a crash loses nothing; at worst it is sent twice.
import type { AttemptOutcome, HandshakeDecision, PreparedRequest } from "../../model.ts";
import type { Logger } from "../../observe/log.ts";
import { ClaimLoop } from "../../service/claim-loop.ts";
import type { Queryable } from "../../storage/database.ts";
import { claimHandshakes, type DueHandshake } from "../../storage/queries/handshakes.ts";
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

export class Handshaker extends ClaimLoop<DueHandshake> implements DestinationService {
  readonly publishes = false;
  readonly maintenanceTasks = {};
  readonly #options: HandshakerOptions;
  readonly #abort = new AbortController();

  constructor(options: HandshakerOptions) {
    const { db, logger } = options;
    super({
      ...limits,
      name: "requesting permission of endpoints",
      intervalMs: pollMs,
      logger,
      claim: (limit) => claimHandshakes(db, { limit, leaseMs }),
      work: (asked) => this.#ask(asked).catch((error) => this.#logFailure(asked, error)),
    });
    this.#options = options;
  }

  override async stop(graceMs = 0): Promise<void> {
    const abort = setTimeout(() => this.#abort.abort(), graceMs);
    await super.stop();
    clearTimeout(abort);
  }

  /** The handshake is due again when its lease expires. */
  #logFailure({ tenant, endpointId }: DueHandshake, { message: error }: Error): void {
    const fields = { tenant, endpointId, error };
    this.#options.logger.warn(
      "a handshake could not be completed; it is repeated when its lease expires",
      fields,
    );
  }

  async #ask(asked: DueHandshake): Promise<void> {
    const { send, settle, publicUrl, logger } = this.#options;
    const outcome = await send(this.#requestFor(asked), this.#abort.signal);
    // this process is stopping: another one sends the request when the lease expires
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
