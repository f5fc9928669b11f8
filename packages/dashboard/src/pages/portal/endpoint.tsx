// One endpoint as its customer sees it.
import { useTenant } from "../../api/session.ts";
import { EndpointPage } from "../endpoints/endpoint.tsx";

export function PortalEndpoint() {
  return <EndpointPage portalOf={useTenant()} />;
}
