// Requests and broadcasts of a child to the processes that share its port. All messages pass through the primary.
import cluster from "node:cluster";
import { type FromChild, METRICS, type StartOptions, type ToChild } from "./messages.ts";

export interface ProcessGroup {
  /** Requests values from all ready children. Returns them and `own`; a child that does not respond within a second is left out. */
  gather(topic: string, argument: unknown, own: unknown): Promise<readonly unknown[]>;
  /** Registers the function that returns this child's value when another one gathers. */
  respond(topic: string, responder: (argument: unknown) => unknown): void;
  /** Sends a value to all other children, without confirmation. */
  broadcast(topic: string, value: unknown): void;
  /** Calls the function with each value that another child sends. */
  listen(topic: string, receive: (value: unknown) => void): void;
  /** Returns the sums over all processes. `own` are the metrics of this child and of the installation. */
  metrics(own: string): Promise<string>;
}

/** Longer than the primary waits for the other children. */
const GATHER_TIMEOUT_MS = 3_000;

export class ChildChannel implements ProcessGroup {
  /** Resolves when the primary sends the options to start with. */
  readonly started: Promise<StartOptions>;
  readonly #waiting = new Map<number, (responses: readonly unknown[]) => void>();
  readonly #responders = new Map<string, (argument: unknown) => unknown>();
  readonly #listeners = new Map<string, (value: unknown) => void>();
  readonly #detached: Promise<void>;
  #onDetached = (): void => {};
  /** A child that has not begun to start has nothing to drain. */
  #onStop = (): void => process.exit(0);
  #requests = 0;

  constructor() {
    this.started = new Promise((resolve) => {
      process.on("message", (message) => this.#receive(message as ToChild, resolve));
    });
    this.#detached = new Promise((resolve) => {
      this.#onDetached = resolve;
      process.once("disconnect", resolve);
    });
    // The primary sends nothing before this, because a message without a listener is lost.
    void this.#send({ kind: "loaded" });
  }

  onStop(stop: () => void): void {
    this.#onStop = stop;
  }

  /** Calls the function if the primary has ended, instead of exiting at once as Node does. */
  onPrimaryEnded(ended: () => void): void {
    const { worker } = cluster;
    worker?.once("disconnect", () => {
      worker.exitedAfterDisconnect = true;
      ended();
    });
  }

  ready(url: string): void {
    void this.#send({ kind: "ready", url });
  }

  failed(message: string): Promise<void> {
    return this.#send({ kind: "failed", message });
  }

  /**
   * Resolves when the primary hands this child no more connections. One that was on its way when the listener closed has
   * arrived by then, and Node has returned it to the primary for another child. Without this wait its client would see a
   * reset connection.
   */
  async detach(metrics: string): Promise<void> {
    await this.#send({ kind: "detach", metrics });
    if (process.connected) await this.#detached;
  }

  gather(topic: string, argument: unknown, own: unknown): Promise<readonly unknown[]> {
    this.#requests += 1;
    const id = this.#requests;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`The primary process did not respond within ${GATHER_TIMEOUT_MS} ms.`));
      }, GATHER_TIMEOUT_MS);
      this.#waiting.set(id, (responses) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(responses);
      });
      void this.#send({ kind: "gather", id, topic, argument, own });
    });
  }

  respond(topic: string, responder: (argument: unknown) => unknown): void {
    this.#responders.set(topic, responder);
  }

  broadcast(topic: string, value: unknown): void {
    void this.#send({ kind: "broadcast", topic, value });
  }

  listen(topic: string, receive: (value: unknown) => void): void {
    this.#listeners.set(topic, receive);
  }

  async metrics(own: string): Promise<string> {
    const [text] = await this.gather(METRICS, null, own);
    return text as string;
  }

  #receive(message: ToChild, start: (options: StartOptions) => void): void {
    switch (message.kind) {
      case "start":
        start(message);
        break;
      case "stop":
        this.#onStop();
        break;
      case "request":
        void this.#respond(message.id, message.topic, message.argument);
        break;
      case "gathered":
        this.#waiting.get(message.id)?.(message.responses);
        break;
      case "broadcast":
        this.#listeners.get(message.topic)?.(message.value);
        break;
      case "detached":
        this.#onDetached();
        break;
    }
  }

  /** A request that fails gets no response, and the child that gathers continues without it. */
  async #respond(id: number, topic: string, argument: unknown): Promise<void> {
    try {
      const value = await this.#responders.get(topic)?.(argument);
      if (value !== undefined) await this.#send({ kind: "response", id, value });
    } catch {}
  }

  /** Resolves when the message is written, or cannot be because the primary has ended. */
  #send(message: FromChild): Promise<void> {
    return new Promise((resolve) => {
      if (!process.connected) resolve();
      else process.send?.(message, undefined, {}, () => resolve());
    });
  }
}
