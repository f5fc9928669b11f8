// When a request is over, however it ends. A response that waits behind another on its connection is never told that
// the connection was lost; the connection is.
import type { Socket } from "node:net";
import type { Exchange } from "./exchange.ts";

const unfinished = new WeakMap<Socket, Set<() => void>>();

/** Calls `end` once: when the answer is out, or when nobody is there to get it. */
export function onRequestEnd(
  { request, response }: Pick<Exchange, "request" | "response">,
  end: () => void,
): void {
  const { socket } = request;
  if (socket.destroyed) {
    end();
    return;
  }
  const ends = unfinishedOn(socket);
  ends.add(end);
  response.once("close", () => {
    if (ends.delete(end)) end();
  });
}

/** One listener for a connection, whatever number of requests it has. */
function unfinishedOn(socket: Socket): Set<() => void> {
  const known = unfinished.get(socket);
  if (known !== undefined) return known;
  const ends = new Set<() => void>();
  unfinished.set(socket, ends);
  socket.once("close", () => {
    for (const end of ends) end();
    ends.clear();
  });
  return ends;
}
