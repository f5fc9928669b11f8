// Fastify 5, as a plugin with its own content type parsers: other routes keep theirs.
import type { RequestHandler } from "../model.ts";
import { type NodeRequest, receiveFrom } from "./node-request.ts";

export type { NodeRequest } from "./node-request.ts";

/** The used part of `FastifyRequest`. Protocol and host trust a proxy according to `trustProxy`. */
export interface FastifyRequest {
  readonly raw: NodeRequest;
  readonly protocol: string;
  readonly host: string;
  readonly originalUrl: string;
}

/** The used part of `FastifyReply`. */
export interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body?: Uint8Array): unknown;
}

/** The used part of `FastifyInstance`. */
export interface FastifyInstance {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

/** `fastify.register(fastifyPlugin(receiver), { prefix: "/webhooks" })` */
export function fastifyPlugin(receiver: RequestHandler): (instance: FastifyInstance) => Promise<void> {
  return async (instance) => {
    instance.removeAllContentTypeParsers();
    // Leaves the body in the stream: the receiver reads it up to its limit.
    instance.addContentTypeParser("*", (_request, _payload, done) => done(null));
    instance.all("/", async (request, reply) => {
      const url = `${request.protocol}://${request.host}${request.originalUrl}`;
      const parsedBodies = ["rawBody" in request && request.rawBody];
      const result = await receiveFrom(receiver, request.raw, { url, parsedBodies, notRaw });
      reply.code(result.status);
      reply.headers({ ...result.headers });
      // Bytes, because Fastify adds a charset to the content type of a string.
      return reply.send(result.body === "" ? undefined : new TextEncoder().encode(result.body));
    });
  };
}

const notRaw = {
  reason: "a preParsing hook of this Fastify application read it first",
  fix: "Register the plugin where that hook does not apply, or make the hook store the bytes as request.rawBody.",
};
