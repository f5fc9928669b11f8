// Notifies when a request has ended, in whatever way. A pipelined response emits no event when its connection is lost,
// so the connection is watched as well.
import type { Socket } from "node:net";
import type { Exchange } from "./exchange.ts";

const unfinished = new WeakMap<Socket, Set<() => void>>();

/** Calls `end` once: when the response was sent, or when the connection is lost. */
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

/** Keeps one listener per connection, regardless of the number of requests. */
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
