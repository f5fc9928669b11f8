// The pages router of Next.js. For the app router use `receiver.fetch`.
import type { RequestHandler } from "../model.ts";
import { type NodeRequest, type NodeResponse, receiveFrom, urlOf, writeResponse } from "./node-request.ts";

export type { NodeRequest, NodeResponse } from "./node-request.ts";

/** `export default nextPagesHandler(receiver)`, with `export const config = { api: { bodyParser: false } }`. */
export function nextPagesHandler(
  receiver: RequestHandler,
): (request: NodeRequest & { readonly body?: unknown }, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const url = urlOf(request);
    writeResponse(
      response,
      await receiveFrom(receiver, request, { url, parsedBodies: [request.body], notRaw }),
    );
  };
}

const notRaw = {
  reason: "Next.js parsed the body of this API route",
  fix: "Add to the route's file: export const config = { api: { bodyParser: false } }",
};
