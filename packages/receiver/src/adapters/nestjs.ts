// NestJS on Express: in a controller, or as a middleware.
import type { RequestHandler } from "../model.ts";
import type { ExpressRequest } from "./express.ts";
import { type NodeResponse, receiveFrom, urlOf, writeResponse } from "./node-request.ts";

export type { ExpressRequest } from "./express.ts";
export type { NodeRequest, NodeResponse } from "./node-request.ts";

/**
 * `app.use("/webhooks", nestHandler(receiver))` in main.ts runs before Nest's parsers. In a controller of an application created
 * with `rawBody: true`: `@All() receive(@Req() request, @Res() response) { return this.#handle(request, response) }`.
 */
export function nestHandler(
  receiver: RequestHandler,
): (request: ExpressRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const url = urlOf(request, request.originalUrl, request.protocol);
    const parsedBodies = [request.rawBody, request.body];
    writeResponse(response, await receiveFrom(receiver, request, { url, parsedBodies, notRaw }));
  };
}

const notRaw = {
  reason: "Nest's body parser ran first and did not store the bytes",
  fix:
    "Create the application with NestFactory.create(AppModule, { rawBody: true }), or put app.use(path, " +
    "nestHandler(receiver)) above any useBodyParser().",
};
