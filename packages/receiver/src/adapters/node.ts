// Node's own http and https servers.
import { type NodeRequest, nodeAdapter, urlOf } from "./node-request.ts";

export type { NodeRequest, NodeResponse } from "./node-request.ts";

/** `createServer(nodeHandler(receiver))` */
export const nodeHandler = nodeAdapter((request: NodeRequest) => ({
  url: urlOf(request),
  parsedBodies: [],
  notRaw: {
    reason: "something read the request's stream first",
    fix: "Call the handler before anything that listens to the request's data or sets its encoding.",
  },
}));
