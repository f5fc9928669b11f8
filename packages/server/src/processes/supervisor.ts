// The primary process of `posthorn serve --processes`: starts the children that share the port, restarts them, passes
// messages between them, and stops them. It accepts connections and hands them out in turn, but serves none itself.
import cluster, { type Worker } from "node:cluster";
import type { Logger } from "posthorn";
import { type FromChild, METRICS, type StartOptions, type ToChild } from "./messages.ts";
import { ProcessMetrics } from "./process-metrics.ts";
import { MAX_FAILED_STARTS, RestartPolicy } from "./restart-policy.ts";

/** Marks children, because another program may run the server as its own cluster worker. */
export const CHILD_VARIABLE = "POSTHORN_CHILD";

/** The children cannot be started; the message says why. */
export class ProcessesError extends Error {
  override readonly name = "ProcessesError";
}

export interface SupervisorOptions {
  readonly processes: number;
  readonly startOptions: Omit<StartOptions, "number">;
  readonly logger: Logger;
}

interface Child {
  readonly number: number;
  readonly worker: Worker;
  readonly exited: Promise<void>;
  hasLoaded: boolean;
  readyAt: number | null;
  /** Why it could not start. */
  failure: string | null;
}

interface Gathering {
  readonly topic: string;
  readonly pending: Set<number>;
  readonly responses: Map<number, unknown>;
  readonly finish: () => void;
}

const GATHER_MS = 1_000;
/** Time beyond the grace period for a child that is about to exit. */
const LAST_STEPS_MS = 500;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #policy = new RestartPolicy();
  readonly #metrics = new ProcessMetrics();
  /** By the id of the worker, which is never used again. */
  readonly #children = new Map<number, Child>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #gatherings = new Map<number, Gathering>();
  #gathered = 0;
  #isStopping = false;
  #failed: (error: Error) => void = () => {};
  #allReady: (server: { readonly url: string }) => void = () => {};
  /** Children that did not stop gracefully. */
  #unclean = 0;

  /** Rejects if the children can no longer be started. */
  readonly failure: Promise<never>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.failure = new Promise((_, reject) => {
      this.#failed = reject;
    });
    this.failure.catch(() => {});
  }

  /** Resolves when all children are ready for the first time. */
  start(): Promise<{ readonly url: string }> {
    // The kernel would give most connections to few children; connections are kept open, so that would last.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    const ready = new Promise<{ readonly url: string }>((resolve) => {
      this.#allReady = resolve;
    });
    for (let number = 1; number <= this.#options.processes; number += 1) this.#fork(number);
    return Promise.race([ready, this.failure]);
  }

  /** Children drain and exit within the grace period, and are killed after it. May be called again with less time. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    const children = [...this.#children.values()];
    for (const child of children) {
      if (graceMs > 0 && child.hasLoaded) send(child, { kind: "stop" });
      else child.worker.process.kill("SIGKILL");
    }
    const kill = (): void => {
      for (const { worker } of this.#children.values()) worker.process.kill("SIGKILL");
    };
    const timer = setTimeout(kill, graceMs + LAST_STEPS_MS);
    await Promise.all(children.map(({ exited }) => exited));
    clearTimeout(timer);
    if (this.#unclean > 0)
      throw new ProcessesError(`${this.#unclean} server process(es) did not stop gracefully.`);
  }

  #fork(number: number): void {
    const worker = cluster.fork({ [CHILD_VARIABLE]: String(number) });
    closeUnaccepted(worker);
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const child: Child = { number, worker, exited, hasLoaded: false, readyAt: null, failure: null };
    this.#children.set(worker.id, child);
    this.#metrics.started(worker.id);
    worker.on("message", (message: FromChild) => this.#receive(child, message));
    worker.once("exit", (code, signal) => this.#exited(child, code, signal));
    // after its last message, unlike the exit; Node emits no disconnect if a connection was being handed over
    worker.process.once("close", () => this.#metrics.ended(worker.id));
    worker.on("error", (error) => {
      this.#options.logger.error("a server process cannot be started or reached", { process: number, error });
      // Node reports no exit of a process that it could not start
      if (worker.process.pid === undefined) worker.emit("exit", 1, null);
    });
  }

  #exited(child: Child, code: number | null, signal: string | null): void {
    const { number, worker, readyAt, failure } = child;
    const { logger } = this.#options;
    this.#children.delete(worker.id);
    for (const gathering of this.#gatherings.values()) this.#responded(gathering, child);
    if (this.#isStopping) {
      if (readyAt !== null && code !== 0) this.#unclean += 1;
      return;
    }
    const readyForMs = readyAt === null ? null : performance.now() - readyAt;
    const restartInMs = this.#policy.exited(number, readyForMs, this.#readyChildren().length);
    const fields = { process: number, pid: worker.process.pid, code, signal, restartInMs };
    if (restartInMs === null) {
      this.#failed(new ProcessesError(startFailed(failure, code, signal)));
      return;
    }
    if (code === 0) logger.info("a server process has ended and is started again", fields);
    else logger.error("a server process has ended unexpectedly and is started again", fields);
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#fork(number);
    }, restartInMs);
    this.#restarts.add(timer);
  }

  #receive(child: Child, message: FromChild): void {
    switch (message.kind) {
      case "loaded":
        child.hasLoaded = true;
        this.#start(child);
        break;
      case "ready":
        this.#ready(child, message.url);
        break;
      case "failed":
        child.failure = message.message;
        break;
      case "gather":
        this.#gather(child, message);
        break;
      case "response":
        this.#receiveResponse(child, message);
        break;
      case "broadcast":
        for (const other of this.#children.values()) if (other !== child) send(other, message);
        break;
      case "detach":
        this.#metrics.report(child.worker.id, message.metrics);
        send(child, { kind: "detached" });
        break;
    }
  }

  #start(child: Child): void {
    const start = { kind: "start", number: child.number, ...this.#options.startOptions } as const;
    send(child, this.#isStopping ? { kind: "stop" } : start);
  }

  #ready(child: Child, url: string): void {
    child.readyAt = performance.now();
    this.#policy.ready();
    const { number, worker } = child;
    this.#options.logger.info("server process ready", { process: number, pid: worker.process.pid });
    if (this.#readyChildren().length === this.#options.processes) this.#allReady({ url });
  }

  #readyChildren(): Child[] {
    return [...this.#children.values()].filter(({ readyAt }) => readyAt !== null);
  }

  #gather(gatherer: Child, { id, topic, argument, own }: FromChild & { kind: "gather" }): void {
    const others = this.#readyChildren().filter((child) => child !== gatherer);
    const gathererId = gatherer.worker.id;
    if (topic === METRICS) this.#metrics.report(gathererId, own as string);
    this.#gathered += 1;
    const request = this.#gathered;
    const responses = new Map([[gathererId, own]]);
    const finish = (): void => {
      clearTimeout(timer);
      this.#gatherings.delete(request);
      const all =
        topic === METRICS ? [this.#metrics.text(responses as Map<number, string>)] : [...responses.values()];
      send(gatherer, { kind: "gathered", id, responses: all });
    };
    const timer = setTimeout(finish, GATHER_MS);
    const pending = new Set(others.map(({ worker }) => worker.id));
    this.#gatherings.set(request, { topic, pending, responses, finish });
    for (const other of others) send(other, { kind: "request", id: request, topic, argument });
    if (others.length === 0) finish();
  }

  #receiveResponse(child: Child, { id, value }: FromChild & { kind: "response" }): void {
    const gathering = this.#gatherings.get(id);
    if (gathering?.topic === METRICS) this.#metrics.report(child.worker.id, value as string);
    gathering?.responses.set(child.worker.id, value);
    if (gathering !== undefined) this.#responded(gathering, child);
  }

  /** Called when a child has responded, or has exited. */
  #responded({ pending, finish }: Gathering, { worker }: Child): void {
    if (pending.delete(worker.id) && pending.size === 0) finish();
  }
}

function send({ worker }: Child, message: ToChild): void {
  // The child may have died a moment ago; its exit is handled elsewhere.
  if (worker.isConnected()) worker.send(message, () => {});
}

/** A connection on its way to a child. */
interface Handle {
  close(): void;
}

/**
 * Closes the connections that were handed to a child which died before it replied. Node keeps such a connection open
 * without an owner, and its client would wait forever. A connection that a child rejects, because it no longer listens,
 * stays open: the cluster hands it to another child.
 */
function closeUnaccepted({ process: child }: Worker): void {
  const handed = new Map<unknown, Handle>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (message: unknown, handle?: unknown, ...rest: unknown[]): boolean => {
    if (isHandle(handle)) handed.set((message as { readonly seq: number }).seq, handle);
    return send(message, handle, ...rest);
  };
  child.on("internalMessage", ({ ack }: { readonly ack?: number }) => void handed.delete(ack));
  child.once("close", () => {
    for (const handle of handed.values()) handle.close();
  });
}

function isHandle(value: unknown): value is Handle {
  return typeof (value as Partial<Handle> | undefined)?.close === "function";
}

function startFailed(failure: string | null, code: number | null, signal: string | null): string {
  const reason = failure ?? `It ended with ${signal ?? `exit code ${code}`}; see its output above.`;
  return `The server processes cannot start: ${MAX_FAILED_STARTS} starts in a row have failed. The last one: ${reason}`;
}
