// Tracks open requests, so that a stop can wait for them. Requests of a lost connection end too, also pipelined ones,
// which emit no separate event.
import type { Exchange } from "./api/exchange.ts";
import { onRequestEnd } from "./api/on-request-end.ts";
import { withinMs } from "./within-ms.ts";

type OpenRequest = Pick<Exchange, "request" | "response">;

export class OpenRequests {
  readonly #open = new Set<OpenRequest>();

  add(exchange: OpenRequest): void {
    this.#open.add(exchange);
    onRequestEnd(exchange, () => this.#open.delete(exchange));
  }

  /** Returns whether a response is being written to the connection. */
  isResponding(socket: unknown): boolean {
    for (const { request, response } of this.#open)
      if (request.socket === socket && response.headersSent) return true;
    return false;
  }

  /** Resolves when the requests that are open now have ended, or after the timeout. */
  async ended(timeoutMs: number): Promise<void> {
    const ended = [...this.#open].map(
      (exchange) => new Promise<void>((resolve) => onRequestEnd(exchange, resolve)),
    );
    await withinMs(timeoutMs, Promise.all(ended));
  }
}
