// NestJS on Express: in a controller, or as a middleware.
import type { Receives } from "../model.ts";
import type { ExpressRequest } from "./express.ts";
import { type NodeResponse, receiveFrom, urlOf, writeAnswer } from "./node-request.ts";

export type { ExpressRequest } from "./express.ts";
export type { NodeRequest, NodeResponse } from "./node-request.ts";

/**
 * In a controller: `@All() receive(@Req() request, @Res() response) { return this.#handle(request, response) }`. As a
 * middleware: `consumer.apply(nestHandler(receiver)).forRoutes("webhooks")`. The application is made with
 * `rawBody: true`.
 */
export function nestHandler(
  receiver: Receives,
): (request: ExpressRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const url = urlOf(request, request.originalUrl, request.protocol);
    const left = [request.rawBody, request.body];
    writeAnswer(response, await receiveFrom(receiver, request, { url, left, notRaw }));
  };
}

const notRaw = {
  reason: "Nest's body parser ran first and did not keep the bytes",
  fix: "Make the application with NestFactory.create(AppModule, { rawBody: true }).",
};
