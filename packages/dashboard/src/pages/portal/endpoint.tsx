// An endpoint in the portal.
import { useTenant } from "../../api/session.ts";
import { EndpointPage } from "../endpoints/endpoint.tsx";

export function PortalEndpoint() {
  return <EndpointPage portalOf={useTenant()} />;
}
