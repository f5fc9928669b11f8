// What is being answered right now, so that a stop can wait for it. A connection that is lost takes its requests along,
// also those whose answers waited behind another: nobody else would tell, and each would be kept for good.
import type { Exchange } from "./api/exchange.ts";
import { onRequestEnd } from "./api/on-request-end.ts";

type Answering = Pick<Exchange, "request" | "response">;

export class OpenRequests {
  readonly #open = new Set<Answering>();

  add(exchange: Answering): void {
    this.#open.add(exchange);
    onRequestEnd(exchange, () => this.#open.delete(exchange));
  }

  /** Resolves when those that are open now have ended, or when the time is up. */
  async ended(withinMs: number): Promise<void> {
    const over = [...this.#open].map(
      (exchange) => new Promise<void>((resolve) => onRequestEnd(exchange, resolve)),
    );
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([Promise.all(over), tooLong]);
    clearTimeout(timer);
  }
}
