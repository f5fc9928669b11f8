import type { Resend } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["resends"]["list"]>>["data"][number];

/** A resend as the API shows it. */
export function presentResend(resend: Given): Sent<Resend> {
  return {
    delivery_id: resend.deliveryId,
    event_id: resend.eventId,
    endpoint_id: resend.endpointId,
    tenant: resend.tenant,
    event_type: resend.eventType,
    attempt: resend.attempt,
    trigger: resend.trigger,
    resent_at: resend.resentAt,
  };
}
