import { type PosthornContract, ROLE_SCOPES } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { invalidBody } from "../../http-error.ts";
import type { Handlers } from "../../implement.ts";
import { grantableLinkTimes } from "../../principal.ts";
import type { Site } from "../../session/site.ts";

export function portalLinkOperations(
  { sessions }: Posthorn,
  site: Site,
): Handlers<PosthornContract>["portalLinks"] {
  return {
    create: async ({ params, body, principal, exchange }) => {
      const { user, role, scopes, expiresInSeconds, sessionSeconds } = body;
      if (role !== undefined && scopes !== undefined)
        throw invalidBody([{ pointer: "/scopes", message: "Give a role or scopes, not both." }]);
      const { id, code, expiresAt } = await sessions.createPortalLink(params.tenant, {
        user,
        scopes: role === undefined ? scopes : ROLE_SCOPES[role],
        ...grantableLinkTimes(principal, { expiresInSeconds, sessionSeconds }),
      });
      return {
        id,
        tenant: params.tenant,
        // in the fragment, which browsers send neither to servers nor as Referer
        url: `${site.url(exchange.request)}/portal#code=${code}`,
        expiresAt,
      };
    },
    revoke: ({ params }) => sessions.revokePortalLink(params.tenant, params.link),
  };
}
