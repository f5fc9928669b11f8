// A page of metrics for Prometheus, on a port that only it can reach.
import { createServer } from "node:http";
import { receiver } from "./receiver.ts";

export const server = createServer(async (_request, response) => {
  response.setHeader("content-type", "text/plain; version=0.0.4").end(await receiver.metrics());
});
