// The callback URL of the handshake, where an endpoint can agree to receive webhooks later. The token in the URL
// authenticates it. Both methods are supported, because the specification leaves the choice to the endpoint.
import type { Posthorn } from "posthorn";
import type { Exchange } from "../exchange.ts";
import type { Reply } from "../reply.ts";
import { publicRoute, type Route } from "../router.ts";

export function webhookGrantRoutes({ endpoints }: Posthorn): Route[] {
  const path = "/webhook-grants/{token}";
  return [publicRoute("GET", path, grant), publicRoute("POST", path, grant)];

  async function grant({ params, request }: Exchange): Promise<Reply> {
    const rate = request.headers["webhook-allowed-rate"];
    await endpoints.grant(params.token as string, typeof rate === "string" ? rate : undefined);
    return { status: 200, contentType: "text/plain; charset=utf-8", body: "Webhooks are allowed.\n" };
  }
}
