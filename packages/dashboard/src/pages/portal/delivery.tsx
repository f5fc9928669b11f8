// One delivery as a customer sees it.
import { Link } from "@tanstack/react-router";
import { DeliveryPage } from "../delivery.tsx";

export function PortalDelivery() {
  return (
    <DeliveryPage
      links={{
        event: ({ event_type }) => (
          <Link to="/catalogue/$name" params={{ name: event_type }} className="underline">
            {event_type}
          </Link>
        ),
        endpoint: ({ endpoint_id }) => (
          <Link to="/endpoints/$id" params={{ id: endpoint_id }} className="font-mono text-xs underline">
            {endpoint_id}
          </Link>
        ),
      }}
    />
  );
}
