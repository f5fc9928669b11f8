import type { Attempt, Delivery, DeliveryDetail, DeliveryRequest, EndpointAttempt } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["deliveries"]["get"]>>;
type DeliveryView = Omit<Given, "attempts" | "members">;
type AttemptView = Given["attempts"][number];

/** A delivery as the API shows it. */
export function presentDelivery(delivery: DeliveryView): Sent<Delivery> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    endpoint_id: delivery.endpointId,
    tenant: delivery.tenant,
    event_type: delivery.eventType,
    subject: delivery.subject,
    sequence: delivery.sequence,
    state: delivery.state,
    attempt_count: delivery.attemptCount,
    next_retry_at: delivery.nextRetryAt,
    dead_reason: delivery.deadReason,
    replay_count: delivery.replayCount,
    created_at: delivery.createdAt,
    delivered_at: delivery.deliveredAt,
    dead_at: delivery.deadAt,
    waits_for: delivery.waitsFor,
  };
}

export function presentDeliveryDetail(delivery: Given): Sent<DeliveryDetail> {
  return {
    ...presentDelivery(delivery),
    attempts: delivery.attempts.map(presentAttempt),
    members: delivery.members,
  };
}

type EndpointAttemptView = Awaited<ReturnType<Posthorn["endpoints"]["attempts"]>>["data"][number];

export function presentEndpointAttempt(attempt: EndpointAttemptView): Sent<EndpointAttempt> {
  return { delivery_id: attempt.deliveryId, event_id: attempt.eventId, ...presentAttempt(attempt) };
}

type RequestView = Awaited<ReturnType<Posthorn["deliveries"]["request"]>>;

export function presentRequest(request: RequestView): Sent<DeliveryRequest> {
  return {
    attempt: request.attempt,
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: request.body.toString("utf8"),
    signed_at: request.signedAt,
    is_fresh: request.isFresh,
    is_exact: request.differences.length === 0,
    differences: request.differences,
    masked: request.masked,
  };
}

function presentAttempt(attempt: AttemptView): Sent<Attempt> {
  return {
    number: attempt.number,
    started_at: attempt.startedAt,
    duration_ms: attempt.durationMs,
    status_code: attempt.statusCode,
    error: attempt.error,
    // Whatever the receiver sent; what is not UTF-8 becomes U+FFFD.
    response_body: attempt.responseBody?.toString("utf8") ?? null,
    next_retry_at: attempt.nextRetryAt,
    trigger: attempt.trigger,
    worker: attempt.worker,
    phases: {
      queue_ms: attempt.phases.queueMs,
      connect_ms: attempt.phases.connectMs,
      tls_ms: attempt.phases.tlsMs,
      first_byte_ms: attempt.phases.firstByteMs,
      body_ms: attempt.phases.bodyMs,
    },
  };
}
