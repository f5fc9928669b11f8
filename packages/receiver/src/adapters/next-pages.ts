// The pages router of Next.js. For the app router use `receiver.fetch`.
import { type NodeRequest, nodeAdapter, urlOf } from "./node-request.ts";

export type { NodeRequest, NodeResponse } from "./node-request.ts";

/** `export default nextPagesHandler(receiver)`, with `export const config = { api: { bodyParser: false } }`. */
export const nextPagesHandler = nodeAdapter((request: NodeRequest & { readonly body?: unknown }) => ({
  url: urlOf(request),
  parsedBodies: [request.body],
  notRaw: {
    reason: "Next.js parsed the body of this API route",
    fix: "Add to the route's file: export const config = { api: { bodyParser: false } }",
  },
}));
