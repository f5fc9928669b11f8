// Node's own http and https servers.
import type { RequestHandler } from "../model.ts";
import { type NodeRequest, type NodeResponse, receiveFrom, urlOf, writeResponse } from "./node-request.ts";

export type { NodeRequest, NodeResponse } from "./node-request.ts";

/** `createServer(nodeHandler(receiver))` */
export function nodeHandler(
  receiver: RequestHandler,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const url = urlOf(request);
    writeResponse(response, await receiveFrom(receiver, request, { url, parsedBodies: [], notRaw }));
  };
}

const notRaw = {
  reason: "something read the request's stream first",
  fix: "Call the handler before anything that listens to the request's data or sets its encoding.",
};
