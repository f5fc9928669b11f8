// Webhooks: one signed POST per delivery.
import type {
  AttemptOutcome,
  ClaimedDelivery,
  OutcomeClass,
  PreparedRequest,
  RetryOn,
  Target,
} from "../../model.ts";
import type { AttemptMoment, AttemptServices, SendableDelivery } from "../destination.ts";
import { attemptOverHttp, type HttpDestination } from "../http/attempt.ts";
import { classify } from "../http/classify.ts";
import { buildRequest } from "./build-request.ts";

export class Webhook implements HttpDestination {
  readonly mayStart: boolean = true;
  readonly allowedPerMinute: number | null = null;
  readonly isPublic = false;
  readonly acceptsReplays = true;
  readonly isPermanent = true;

  accepts(): boolean {
    return true;
  }

  attempt(
    delivery: ClaimedDelivery,
    target: Target,
    moment: AttemptMoment,
    services: AttemptServices,
  ): AttemptOutcome | Promise<AttemptOutcome> {
    return attemptOverHttp(this, delivery, target, moment, services);
  }

  interpret(outcome: AttemptOutcome, retryOn: RetryOn): OutcomeClass {
    return classify(outcome, retryOn);
  }

  request(
    delivery: SendableDelivery,
    target: Target,
    moment: AttemptMoment,
    userAgent: string,
  ): PreparedRequest {
    return buildRequest(delivery, target, moment, userAgent);
  }
}

/** Shared by all webhooks without a handshake. */
export const WEBHOOK = new Webhook();

export const webhookKind = (): Webhook => WEBHOOK;
