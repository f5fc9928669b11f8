// GET /live: server-sent events. Browsers send `Last-Event-ID`, the time of the last message, when they reconnect.
import type { Permission } from "@posthorn/client";
import { NO_PARAMETERS, readQuery } from "../api/input/query.ts";
import { authorize } from "../api/principal.ts";
import type { Route } from "../api/router.ts";
import type { SignIn } from "../api/session/sign-in.ts";
import type { LiveFeed } from "./live-feed.ts";

const PERMISSION: Permission = { scopes: ["deliveries:read"], reach: "tenant" };

export function liveRoute(feed: LiveFeed, signIn: SignIn): Route {
  return {
    method: "GET",
    path: "/live",
    permission: PERMISSION,
    isRefusedWhileDraining: true,
    handle: ({ request, principal, query }) => {
      readQuery(query, NO_PARAMETERS);
      feed.checkLimits(principal);
      return {
        status: 200,
        contentType: "text/event-stream; charset=utf-8",
        // makes nginx forward each message at once
        headers: ["X-Accel-Buffering", "no"],
        stream: (response) =>
          void feed.open({
            response,
            principal,
            since: timeOf(request.headers["last-event-id"]),
            reauthorize: async () => authorize(await signIn.authenticate(request), PERMISSION, {}),
          }),
      };
    },
  };
}

/** Returns null for an invalid id, because it only says where to resume. */
function timeOf(lastEventId: string | string[] | undefined): Date | null {
  const ms = typeof lastEventId === "string" && /^\d{13}$/.test(lastEventId) ? Number(lastEventId) : null;
  return ms === null ? null : new Date(ms);
}
