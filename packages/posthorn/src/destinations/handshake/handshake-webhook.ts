// Webhooks to an endpoint that has to agree first ("HTTP 1.1 Web Hooks for Event Delivery" §4): deliveries wait until it
// agrees, keep to the rate it allows, and name their sender.
import type { DestinationKind } from "../destination.ts";
import { webhookWith } from "../webhook/webhook.ts";

export const handshakeKind: DestinationKind = ({ handshake, grant }) => {
  if (handshake === null && grant === null) return null;
  const mayStart = grant === null || grant.state === "granted";
  const headers = handshake === null ? {} : { "WebHook-Request-Origin": handshake.origin };
  return webhookWith({ mayStart, allowedPerMinute: grant?.allowedRate ?? null }, headers);
};
