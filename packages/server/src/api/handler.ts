// All HTTP routes as one request handler, for the standalone server or for an application to mount.
import type { IncomingMessage, ServerResponse } from "node:http";
import { contract } from "@posthorn/client";
import type { Logger, Posthorn } from "posthorn";
import { MAX_PAGE_BYTES, type RecordChange, unaudited } from "posthorn/internal";
import { createDashboard, type Dashboard } from "../dashboard/dashboard.ts";
import { LiveFeed } from "../live/live-feed.ts";
import { liveRoute } from "../live/live-route.ts";
import type { ProcessGroup } from "../processes/process-group.ts";
import { isHubPath, webSubRoutes } from "../websub/routes.ts";
import { createAudit } from "./audit.ts";
import { HttpError } from "./http-error.ts";
import { type ExportAccess, implement } from "./implement.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { digestOf } from "./middleware/admin-key.ts";
import { Credentials } from "./middleware/credentials.ts";
import { requestIdOf } from "./middleware/request-id.ts";
import { notFound } from "./not-found.ts";
import { ANONYMOUS, authorize, OPERATORS_ONLY } from "./principal.ts";
import { type Problem, problemOf, problemReply, textReply } from "./problem.ts";
import { type Reply, sendReply } from "./reply.ts";
import { auditLogOperations } from "./resources/audit-log/operations.ts";
import { deliveryOperations } from "./resources/deliveries/operations.ts";
import { endpointOperations } from "./resources/endpoints/operations.ts";
import { eventTypeOperations } from "./resources/event-types/operations.ts";
import { eventDataRoute } from "./resources/events/data-route.ts";
import { eventOperations } from "./resources/events/operations.ts";
import { exportOperations } from "./resources/exports/operations.ts";
import { keyOperations } from "./resources/keys/operations.ts";
import { libraryOperations } from "./resources/library-operations.ts";
import { memberOperations } from "./resources/members/operations.ts";
import { portalLinkOperations } from "./resources/portal-links/operations.ts";
import { sessionOperations } from "./resources/session/operations.ts";
import { createRouter, type Route, type RoutePermission } from "./router.ts";
import { docsRoutes } from "./routes/docs.ts";
import { eventSchemaRoute } from "./routes/event-schemas.ts";
import { healthRoutes, metricsRoute } from "./routes/health.ts";
import { homeRoute } from "./routes/home.ts";
import { publicKeyRoutes } from "./routes/public-keys.ts";
import { webhookGrantRoutes } from "./routes/webhook-grants.ts";
import { checkSiteOptions } from "./session/check-site-options.ts";
import { type PortalOptions, SignIn } from "./session/sign-in.ts";
import { Site } from "./session/site.ts";
import { type Sink, sinkRoutes } from "./sink.ts";

export interface HandlerOptions {
  /** Key with every scope. Default: the one that `posthorn serve` generated in this database. */
  readonly adminKey?: string | undefined;
  /** Requests per second and process for keys without their own limit. 0 means no limit. Default 0. */
  readonly keyRateLimit?: number | undefined;
  /** Enables `/sink/{id}`; `readers` may read the recorded requests. */
  readonly sink?: { readonly sink: Sink; readonly readers: RoutePermission } | undefined;
  /** Serves `/metrics` without authentication. Otherwise it needs a key with the scope `admin`. Default false. */
  readonly metricsPublic?: boolean | undefined;
  /** The public URL, used in links, cookies and the examples on `/docs`. Default: the host of the request. */
  readonly publicUrl?: string | undefined;
  /** Additional host names of the dashboard. The host of `publicUrl` and loopback names are always allowed. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The customer portal's theme, and the origins that may embed it in a frame. */
  readonly portal?: PortalOptions | undefined;
  /** Folder of the built dashboard. Default: the one in this package. */
  readonly staticFolder?: string | undefined;
  /** `health` serves only health and metrics, for a process without the API. Default: `all`. */
  readonly routes?: "all" | "health" | undefined;
  /** Returns true while the process shuts down: it then reports not ready and closes connections after each response. */
  readonly isDraining?: (() => boolean) | undefined;
  /** How long a client may take to read each 64 KB of a response before it is disconnected. Default 30 s. */
  readonly responseTimeoutMs?: number | undefined;
  /** The processes that share the port with this one, if `posthorn serve` started several. */
  readonly group?: ProcessGroup | undefined;
  readonly logger?: (Logger & { readonly isDebug?: boolean }) | undefined;
}

/** A handler for node:http, or for `app.use(path, handler)` of Express. Unknown routes are passed to `next`. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

const RESPONSE_TIMEOUT_MS = 30_000;
/** The size of 16 pages of the largest size. */
export const MAX_RESPONSE_BYTES_PER_CALLER = 64 * 1024 * 1024;
/** Memory for responses that are being built or not yet read by the client. */
const RESPONSE_MEMORY = {
  bytesPerCaller: MAX_RESPONSE_BYTES_PER_CALLER,
  totalBytes: 128 * 1024 * 1024,
  refusal: "Too many large responses are in progress. Read the pending ones, and try again in a second.",
};
/** Smaller responses are not counted: a connection with an unread response accepts no further requests. */
const SMALL_RESPONSE_BYTES = 16 * 1024;

/**
 * Returns the request handler. Mount it before any body parser, because events are stored byte for byte. Timeouts for
 * slow clients are those of the server it is mounted in.
 */
export function createHandler(instance: Posthorn, options: HandlerOptions = {}): Handler {
  const { hooks, record } = unaudited(instance);
  const credentials = new Credentials({
    adminKeyDigest: digestOf(hooks, options.adminKey),
    keys: hooks.keys,
    keyRateLimit: options.keyRateLimit ?? 0,
    group: options.group,
  });
  const { portal, ...site } = checkSiteOptions(options);
  const signIn = new SignIn(hooks, credentials, new Site(site), portal, options.group);
  const dashboard = createDashboard(signIn.site, portal, options.staticFolder);
  const routes = routesOf({ hooks, record, signIn, dashboard }, options);
  const hasDashboard = options.routes !== "health";
  const router = createRouter(routes);
  const { logger, isDraining = () => false, responseTimeoutMs = RESPONSE_TIMEOUT_MS } = options;
  const responseMemory = new MemoryBudget(RESPONSE_MEMORY);

  async function respond(
    request: IncomingMessage,
    requestId: string,
    response: ServerResponse,
  ): Promise<Reply | null> {
    checkHead(request);
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    const path = mark === -1 ? url : url.slice(0, mark);
    const match = router.match(request.method ?? "GET", path);
    if (match.kind === "not_found") return hasDashboard ? await dashboard.serve(request, path) : null;
    if (match.kind === "wrong_method") throw wrongMethod(match.allow);
    const { route, params } = match;
    const authenticated = route.permission === "public" ? ANONYMOUS : signIn.authenticate(request);
    // a cached key needs no await
    const principal = authenticated instanceof Promise ? await authenticated : authenticated;
    if (route.permission !== "public") authorize(principal, route.permission, params);
    if (route.isRefusedWhileDraining && isDraining()) throw shuttingDown();
    const query = mark === -1 ? "" : url.slice(mark + 1);
    const exchange = { request, response, params, requestId, query, principal };
    if (route.hasLargeResponse) responseMemory.reserve(exchange, principal, MAX_PAGE_BYTES);
    const reply = await route.handle(exchange);
    // a stream keeps the reservation for a page
    if (reply.stream !== undefined) return reply;
    const bytes = reply.body?.length ?? 0;
    if (!route.hasLargeResponse && bytes <= SMALL_RESPONSE_BYTES) return reply;
    if (route.method === "GET") responseMemory.reserve(exchange, principal, bytes);
    else responseMemory.record(exchange, principal, bytes);
    return reply;
  }

  return (request, response, next) => {
    const requestId = requestIdOf(request);
    const startedAt = logger?.isDebug ? performance.now() : 0;
    const send = (reply: Reply): void => {
      // a pipelined response is not marked as destroyed when its connection is lost
      if (response.destroyed || request.socket.destroyed) return;
      if (isDraining()) response.shouldKeepAlive = false;
      sendReply(response, reply, requestId, responseTimeoutMs);
      if (startedAt !== 0) logRequest(request, reply.status, requestId, startedAt, logger);
    };
    respond(request, requestId, response)
      .then(async (reply) => {
        if (reply !== null) return send(reply);
        if (next) return next();
        const url = request.url ?? "/";
        const page = hasDashboard ? await dashboard.serveUnknown(request, url.split("?", 1)[0] ?? url) : null;
        if (page === null) throw notFound(url, routes);
        send(page);
      })
      .catch((error: unknown) => {
        const problem = problemWhile(isDraining(), error);
        if (problem.status === 500) logger?.error("request failed", { requestId, error });
        const path = instanceOf(request);
        send(isHubPath(request.url) ? textReply(problem) : problemReply(problem, path, requestId));
      });
  };
}

/** A proxy might choose another one of repeated headers: the request would be for another host or of another caller. */
function checkHead({ headers, rawHeaders }: IncomingMessage): void {
  let hosts = 0;
  let authorizations = 0;
  // absent if the intake has read the request, which leaves repeated headers to Node
  for (let at = 0; at < (rawHeaders?.length ?? 0); at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
    else if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION)
      authorizations += 1;
  }
  if (hosts > 1 || authorizations > 1) {
    const name = hosts > 1 ? "Host" : "Authorization";
    throw new HttpError("malformed_request", `The header ${name} is given more than once.`);
  }
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue")
    throw new HttpError("expectation_failed", "Omit the header Expect, or send Expect: 100-continue.");
}

const HOST = "host";
const AUTHORIZATION = "authorization";

export interface Parts {
  readonly hooks: Posthorn;
  readonly record: RecordChange;
  readonly signIn: SignIn;
  readonly dashboard: Dashboard;
}

export function routesOf(
  { hooks, record, signIn, dashboard }: Parts,
  { routes = "all", sink, logger, metricsPublic = false, isDraining = () => false, group }: HandlerOptions,
): Route[] {
  const health = [
    ...healthRoutes(hooks, isDraining),
    metricsRoute(hooks, metricsPublic ? "public" : OPERATORS_ONLY, group),
  ];
  if (routes === "health") return health;
  const audit = createAudit(record);
  return [
    ...health,
    homeRoute(dashboard),
    eventDataRoute(hooks),
    eventSchemaRoute(hooks),
    ...publicKeyRoutes(hooks),
    ...webhookGrantRoutes(hooks),
    ...docsRoutes(signIn.site, dashboard),
    liveRoute(new LiveFeed(hooks, isDraining), signIn),
    ...implement(
      contract,
      {
        events: eventOperations(hooks),
        eventTypes: eventTypeOperations(hooks),
        members: memberOperations(hooks),
        endpoints: endpointOperations(hooks),
        deliveries: deliveryOperations(hooks),
        keys: keyOperations(hooks),
        auditLog: auditLogOperations(hooks),
        session: sessionOperations(signIn, audit),
        portalLinks: portalLinkOperations(hooks, signIn.site),
        exports: exportOperations(hooks),
        ...libraryOperations(hooks, sink !== undefined),
      },
      audit,
      { logger, reauthorize: reauthorizeBy(signIn) },
    ),
    ...webSubRoutes(hooks),
    ...(sink ? sinkRoutes(sink.sink, sink.readers, group) : []),
  ];
}

/** A key that is over its rate is still valid. */
function reauthorizeBy(signIn: SignIn): ExportAccess["reauthorize"] {
  return async ({ request, params }, permission) => {
    try {
      const principal = await signIn.authenticate(request);
      if (permission !== "public") authorize(principal, permission, params);
    } catch (error) {
      if (problemOf(error).code !== "rate_limited") throw error;
    }
  };
}

/** While draining the database may be closed already; callers should see that as shutting down. */
function problemWhile(isDraining: boolean, error: unknown): Problem {
  const problem = problemOf(error);
  return isDraining && problem.status === 503 ? problemOf(shuttingDown()) : problem;
}

function shuttingDown(): HttpError {
  return new HttpError(
    "shutting_down",
    "This server is shutting down. Send the request to another one, or retry in a moment.",
    { headers: { "Retry-After": "2" } },
  );
}

function wrongMethod(allow: string): HttpError {
  return new HttpError("method_not_allowed", `This route supports ${allow}.`, { headers: { Allow: allow } });
}

/** The requested path without the query, including the path where an application mounted the handler. */
function instanceOf(request: IncomingMessage): string {
  const { originalUrl, url = "/" } = request as IncomingMessage & { originalUrl?: string };
  const [path = "/"] = (originalUrl ?? url).split("?");
  return path;
}

function logRequest(
  request: IncomingMessage,
  status: number,
  requestId: string,
  startedAt: number,
  logger: Logger | undefined,
): void {
  const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
  logger?.debug("request", {
    method: request.method,
    path: instanceOf(request),
    status,
    durationMs,
    requestId,
  });
}
