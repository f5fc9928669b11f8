// Verifies subscription requests with their callbacks, and notifies them of denials. The database holds what is due: any
// process may verify, and the requests of a process that crashes are due again.
//
//   202 ──► request ──offered?──no──► GET hub.mode=denied ──────────────────────► dropped
//              ▲          │ yes
//              │          ▼
//   later: no  │   GET hub.mode, hub.topic, hub.challenge, hub.lease_seconds
//   reply, or  └──────────┤
//   too many      any response but 2xx with the challenge ──────────────────────► dropped, nothing changes
//                         │ the challenge
//                         ▼
//                 subscription created, renewed or ended, in one transaction with the end of the request
import { randomBytes } from "node:crypto";
import type { AttemptOutcome } from "../../model.ts";
import { ClaimLoop } from "../../service/claim-loop.ts";
import { acquirePermit } from "../../storage/queries/websub/permits.ts";
import {
  type ClaimedRequest,
  claimRequests,
  endRequest,
  postponeRequest,
  postponeShare,
} from "../../storage/queries/websub/requests.ts";
import type { HubContext } from "./hub.ts";
import { MIN_LEASE_SECONDS, POLL_MS } from "./options.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { topicOf } from "./topics.ts";
import { withParameters } from "./urls.ts";

const timeoutMs = 10_000;
/** Longer than one attempt with its statements. */
const leaseMs = 30_000;
const limits = { maxInFlight: 50, batchSize: 10 };
/** A missing response may be a restart; any response is final. */
const retryAfterMs = [10_000, 60_000, 300_000];
/** A request that reaches this number crashed its worker each time. */
const MOST_ATTEMPTS = 10;
/** A challenge is much shorter. */
const maxAnswerBytes = 1_024;

export class Verifier extends ClaimLoop<ClaimedRequest> {
  readonly #options: HubContext;
  readonly #subscriptions: Subscriptions;

  constructor(options: HubContext, subscriptions: Subscriptions) {
    const { db, logger } = options;
    super({
      ...limits,
      name: "verifying subscriptions",
      intervalMs: POLL_MS,
      logger,
      claim: (limit) => claimRequests(db, { limit, leaseMs }),
      work: (request) => this.#work(request),
    });
    this.#options = options;
    this.#subscriptions = subscriptions;
  }

  async #work(request: ClaimedRequest): Promise<void> {
    const { logger, db } = this.#options;
    try {
      if (request.attempts > MOST_ATTEMPTS) await this.#end(request, "unreachable");
      else await this.#process(request);
    } catch (error) {
      // an error affects this request only; it is due again when its lease expires
      logger.warn("a request to the hub could not be processed", {
        mode: request.mode,
        host: request.host,
        attempts: request.attempts,
        error: (error as Error).message,
      });
      if (request.attempts > retryAfterMs.length) await endRequest(db, request.id).catch(() => {});
    }
  }

  async #process(request: ClaimedRequest): Promise<void> {
    if (request.mode === "denied") return await this.#deny(request, request.reason);
    const subscriptions = this.#subscriptions;
    const topic = topicOf(request.topic, this.#options.hub);
    if (request.mode === "unsubscribe") {
      // nothing to end, and the callback is not contacted
      const isKnown = await subscriptions.exists(request);
      if (!isKnown) return await this.#end(request, "unknown");
      if (!(await this.#isConfirmed(request, {}))) return;
      await subscriptions.end(request);
      return this.#count("unsubscribe", "verified");
    }
    const denialReason = await subscriptions.denialReason(topic, request);
    if (denialReason !== null || topic === null) return await this.#deny(request, denialReason);
    const { leaseSeconds: usual, maxLeaseSeconds } = this.#options.hub;
    const wanted = request.leaseSeconds ?? usual;
    const leaseSeconds = Math.min(Math.max(wanted, MIN_LEASE_SECONDS), maxLeaseSeconds);
    const extra = { "hub.lease_seconds": String(leaseSeconds) };
    if (!(await this.#isConfirmed(request, extra))) return;
    const isMade = await subscriptions.confirm(topic, request, leaseSeconds);
    this.#count("subscribe", isMade ? "verified" : "superseded");
  }

  /** Returns true if the callback confirms. Otherwise the request has been postponed or dropped. */
  async #isConfirmed(request: ClaimedRequest, extra: Readonly<Record<string, string>>): Promise<boolean> {
    // valid for this attempt only
    const challenge = randomBytes(32).toString("base64url");
    const outcome = await this.#get(request, {
      "hub.mode": request.mode,
      "hub.topic": request.topic,
      "hub.challenge": challenge,
      ...(request.verifyToken !== null && { "hub.verify_token": request.verifyToken }),
      ...extra,
    });
    if (outcome === null) return false;
    if (outcome.kind === "failed") {
      await this.#retryLater(request, outcome.error);
      return false;
    }
    if (isChallenge(outcome, challenge)) return true;
    await this.#end(request, "rejected");
    return false;
  }

  async #deny(request: ClaimedRequest, reason: string | null): Promise<void> {
    const outcome = await this.#get(request, {
      "hub.mode": "denied",
      "hub.topic": request.topic,
      ...(reason !== null && { "hub.reason": reason }),
    });
    if (outcome === null) return;
    if (outcome.kind === "failed") await this.#retryLater(request, outcome.error);
    else await this.#end(request, "denied");
  }

  /** Returns null if the request was postponed because of the rate limit. */
  async #get(
    request: ClaimedRequest,
    parameters: Readonly<Record<string, string>>,
  ): Promise<AttemptOutcome | null> {
    if (!(await this.#hasQuotaLeft(request))) return null;
    const url = withParameters(request.callback, parameters);
    return await this.#options.get(url, { timeoutMs, maxBodyBytes: maxAnswerBytes });
  }

  /**
   * The host's own limit first, so that a flood at one host takes nothing from others. Returns false if the request
   * was postponed.
   */
  async #hasQuotaLeft(request: ClaimedRequest): Promise<boolean> {
    const { db, hub } = this.#options;
    const { host, share } = request;
    const ofHost = await acquirePermit(db, `${share} callback ${host}`, hub.verificationsPerHost);
    if (!ofHost.isAcquired) return await this.#postpone(request, host, ofHost.untilMs);
    const ofAll = await acquirePermit(db, `${share} callbacks`, hub.verificationsPerMinute);
    return ofAll.isAcquired || (await this.#postpone(request, null, ofAll.untilMs));
  }

  async #postpone(request: ClaimedRequest, host: string | null, untilMs: number): Promise<false> {
    const { db } = this.#options;
    // due again at once, limited with the others of its share
    await postponeRequest(db, request, { delayMs: 0, isCounted: false });
    await postponeShare(db, { share: request.share, host, untilMs });
    return false;
  }

  async #retryLater(request: ClaimedRequest, error: string): Promise<void> {
    const { db } = this.#options;
    // aborted because this process stops
    if (error === "unknown") return await postponeRequest(db, request, { delayMs: 0, isCounted: false });
    const delayMs = retryAfterMs[request.attempts - 1];
    const isFinal = delayMs === undefined || error === "blocked_address" || error === "invalid_request";
    if (isFinal) await this.#end(request, "unreachable");
    else await postponeRequest(db, request, { delayMs, isCounted: true });
  }

  async #end(request: ClaimedRequest, result: HubRequestResult): Promise<void> {
    await endRequest(this.#options.db, request.id);
    this.#count(request.mode, result);
  }

  #count(mode: string, result: HubRequestResult): void {
    this.#options.metrics.count("webhook_websub_requests_total", mode, result);
  }
}

export type HubRequestResult = "verified" | "rejected" | "denied" | "unreachable" | "unknown" | "superseded";

function isChallenge(outcome: Extract<AttemptOutcome, { kind: "responded" }>, challenge: string): boolean {
  const isSuccess = outcome.statusCode >= 200 && outcome.statusCode <= 299;
  // an incomplete or longer response is not the challenge
  return (
    isSuccess &&
    outcome.response?.isComplete === true &&
    Buffer.from(outcome.responseBody).equals(Buffer.from(challenge))
  );
}
