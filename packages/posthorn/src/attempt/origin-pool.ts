// The connections of one tenant to one origin, and the requests that wait for one.
import type { AttemptHandler } from "./attempt-handler.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { GuardedConnector } from "./guard/guarded-connector.ts";

export interface OriginPoolOptions {
  readonly key: string;
  readonly connector: GuardedConnector;
  readonly maxConnections: number;
  readonly openedAt: number;
  /** A connection was closed, and no other was opened in its place. */
  readonly onClosed: (pool: OriginPool) => void;
}

export class OriginPool implements ConnectionOwner {
  readonly key: string;
  readonly openedAt: number;
  /** Requests whose outcome is not known yet, including those waiting for a connection. */
  inFlight = 0;
  /** The time at which the last request ended. */
  usedAt: number;
  readonly #connector: GuardedConnector;
  readonly #maxConnections: number;
  readonly #onClosed: (pool: OriginPool) => void;
  readonly #connections = new Set<Connection>();
  /** The most recently used connection is last and is reused first, so that the others are closed as idle. */
  readonly #idle: Connection[] = [];
  /** In order of arrival. */
  readonly #waiting = new Set<AttemptHandler>();
  #isClosing = false;

  constructor({ key, connector, maxConnections, openedAt, onClosed }: OriginPoolOptions) {
    this.key = key;
    this.#connector = connector;
    this.#maxConnections = maxConnections;
    this.openedAt = openedAt;
    this.usedAt = openedAt;
    this.#onClosed = onClosed;
  }

  get connections(): number {
    return this.#connections.size;
  }

  send(attempt: AttemptHandler): void {
    const idle = this.#idle.pop();
    if (idle?.isUsable) idle.send(attempt);
    else if (idle !== undefined) {
      idle.close();
      this.send(attempt);
    } else if (this.#connections.size < this.#maxConnections) this.#open(attempt);
    else this.#waiting.add(attempt);
  }

  /** The request ended while it waited for a connection. */
  withdraw(attempt: AttemptHandler): void {
    this.#waiting.delete(attempt);
  }

  /** Closes idle connections now, and the others after their response. */
  close(): void {
    this.#isClosing = true;
    for (const connection of [...this.#connections]) connection.closeIfIdle();
  }

  onFree(connection: Connection): void {
    const next = this.#nextWaiting();
    if (next !== null) connection.send(next);
    else if (this.#isClosing) connection.close();
    else this.#idle.push(connection);
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    const next = this.#nextWaiting();
    if (next === null) this.#onClosed(this);
    else this.#open(next);
  }

  #open(attempt: AttemptHandler): void {
    const connection = new Connection(this, this.#connector, attempt);
    this.#connections.add(connection);
    connection.open();
  }

  #nextWaiting(): AttemptHandler | null {
    for (const attempt of this.#waiting) {
      this.#waiting.delete(attempt);
      return attempt;
    }
    return null;
  }
}
