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

  /** Resolves when the requests that are open now have ended, or after the timeout. */
  async ended(timeoutMs: number): Promise<void> {
    const ended = [...this.#open].map(
      (exchange) => new Promise<void>((resolve) => onRequestEnd(exchange, resolve)),
    );
    await withinMs(timeoutMs, Promise.all(ended));
  }
}
