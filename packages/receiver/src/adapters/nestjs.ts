// NestJS on Express: in a controller, or as a middleware.
import type { ExpressRequest } from "./express.ts";
import { nodeAdapter, urlOf } from "./node-request.ts";

export type { ExpressRequest } from "./express.ts";
export type { NodeRequest, NodeResponse } from "./node-request.ts";

/**
 * `app.use("/webhooks", nestHandler(receiver))` in main.ts runs before Nest's parsers. In a controller of an application created
 * with `rawBody: true`: `@All() receive(@Req() request, @Res() response) { return this.#handle(request, response) }`.
 */
export const nestHandler = nodeAdapter((request: ExpressRequest) => ({
  url: urlOf(request, request.originalUrl, request.protocol),
  parsedBodies: [request.rawBody, request.body],
  notRaw: {
    reason: "Nest's body parser ran first and did not store the bytes",
    fix:
      "Create the application with NestFactory.create(AppModule, { rawBody: true }), or put app.use(path, " +
      "nestHandler(receiver)) above any useBodyParser().",
  },
}));
