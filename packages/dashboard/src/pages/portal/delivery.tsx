// A delivery in the portal.
import { Link } from "@tanstack/react-router";
import { EndpointName } from "../../components/endpoint/endpoint-name.tsx";
import { DeliveryPage } from "../deliveries/delivery.tsx";

export function PortalDelivery() {
  return (
    <DeliveryPage
      links={{
        event: ({ event_type }) => (
          <Link to="/catalogue/$name" params={{ name: event_type }} className="underline">
            {event_type}
          </Link>
        ),
        endpoint: ({ tenant, endpoint_id }) => (
          <Link to="/endpoints/$id" params={{ id: endpoint_id }} className="break-all underline">
            <EndpointName tenant={tenant} id={endpoint_id} />
          </Link>
        ),
        // the portal has no event page
        member: (event) => event,
        tenant: null,
      }}
    />
  );
}
