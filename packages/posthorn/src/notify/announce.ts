// Records in the transaction that disables an endpoint what follows from it: a system event for the tenant's other
// endpoints and for operators, and a notification per channel.
import { formatId } from "@posthorn/wire";
import type { Queryable } from "../storage/database.ts";
import type { EndpointRow } from "../storage/queries/endpoints/read.ts";
import { recordSystemEvent, type SystemEvent } from "../storage/queries/events/record-system-event.ts";
import { writeNotifications } from "../storage/queries/notifications/notifications.ts";
import { type ChannelOptions, channelNames } from "./channel-names.ts";
import { withoutQuery } from "./wording.ts";

interface AnnounceOptions extends ChannelOptions {
  /** The endpoints of this tenant receive the system events of all tenants. */
  readonly operatorTenant: string | null;
}

export function createAnnounce({ operatorTenant, ...options }: AnnounceOptions) {
  const channels = channelNames(options);
  return async (tx: Queryable, disabled: EndpointRow): Promise<void> => {
    await recordSystemEvent(tx, disabledEvent(disabled, operatorTenant));
    if (channels.length > 0)
      await writeNotifications(tx, {
        endpointId: disabled.id,
        kind: "disabled",
        channels,
        sinceMs: null,
        count: 1,
        delayMs: 0,
      });
  };
}

function disabledEvent(endpoint: EndpointRow, operatorTenant: string | null): SystemEvent {
  const id = formatId("ep", endpoint.id);
  const data = {
    endpoint_id: id,
    tenant: endpoint.tenant,
    url: withoutQuery(endpoint.url),
    description: endpoint.description,
    reason: endpoint.disabledReason,
    disabled_at: new Date(endpoint.disabledMs ?? 0),
  };
  return {
    tenants: [...new Set([endpoint.tenant, operatorTenant ?? endpoint.tenant])],
    type: "webhook.endpoint.disabled",
    subject: id,
    payload: Buffer.from(JSON.stringify(data)),
  };
}
