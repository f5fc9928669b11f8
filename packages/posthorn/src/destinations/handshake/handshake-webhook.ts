// Webhooks to an endpoint that is asked first whether it wants them ("HTTP 1.1 Web Hooks for Event Delivery" §4): deliveries
// wait until it agrees, keep to the rate it allows, and name their sender.
import type { Grant, HandshakeSettings, PreparedRequest, Target } from "../../model.ts";
import type { AttemptMoment, DestinationKind, SendableDelivery } from "../destination.ts";
import { Webhook } from "../webhook/webhook.ts";

class HandshakeWebhook extends Webhook {
  override readonly mayStart: boolean;
  override readonly allowedPerMinute: number | null;
  readonly #origin: string | null;

  constructor(settings: HandshakeSettings | null, grant: Grant | null) {
    super();
    this.mayStart = grant === null || grant.state === "granted";
    this.allowedPerMinute = grant?.allowedRate ?? null;
    this.#origin = settings?.origin ?? null;
  }

  override request(
    delivery: SendableDelivery,
    target: Target,
    moment: AttemptMoment,
    userAgent: string,
  ): PreparedRequest {
    const request = super.request(delivery, target, moment, userAgent);
    if (this.#origin === null) return request;
    return { ...request, headers: { ...request.headers, "WebHook-Request-Origin": this.#origin } };
  }
}

export const handshakeKind: DestinationKind = ({ handshake, grant }) =>
  handshake === null && grant === null ? null : new HandshakeWebhook(handshake, grant);
