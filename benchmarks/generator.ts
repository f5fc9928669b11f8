// A minimal load generator: requests are built beforehand and only their numbers change. Each connection has one request in
// flight. It records when each event was sent and when its 202 arrived.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { monotonicMs } from "./monotonic.ts";
import { handleMessages } from "./subprocess.ts";
import { digits, endpointCount, eventJson, numberMark, tenantOf, typeOf, writeDigits } from "./workload.ts";

export interface Load {
  readonly port: number;
  readonly key: string;
  /** Events per request; 1 sends an object, more an array. */
  readonly batch: number;
  readonly connections: number;
  /** The run ends with the first limit reached. */
  readonly durationMs: number;
  readonly maxEvents: number;
  /** Events per second; null: as fast as responses arrive. */
  readonly rate: number | null;
}

export interface LoadResult {
  readonly startedAt: number;
  /** Events acknowledged with 202. */
  readonly accepted: number;
  /** Indexed by event number. */
  readonly sentAt: Float64Array;
  readonly acceptedAt: Float64Array;
}

handleMessages({ run: (load: Load) => new Generator(load).run() });

class Generator {
  readonly load: Load;
  readonly sentAt: Float64Array;
  readonly acceptedAt: Float64Array;
  readonly #idle: Connection[] = [];
  #next = 0;
  #accepted = 0;
  #busy = 0;
  #startedAt = 0;
  #endsAt = 0;
  #done: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(load: Load) {
    this.load = load;
    this.sentAt = new Float64Array(load.maxEvents);
    this.acceptedAt = new Float64Array(load.maxEvents);
  }

  async run(): Promise<LoadResult> {
    const { connections, durationMs, rate } = this.load;
    for (let index = 0; index < connections; index += 1) {
      const connection = new Connection(this, index);
      await connection.open();
      this.#idle.push(connection);
    }
    const opened = [...this.#idle];
    const ended = new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
    });
    this.#startedAt = monotonicMs();
    this.#endsAt = this.#startedAt + durationMs;
    if (rate === null) for (const connection of this.#idle.splice(0)) this.#start(connection);
    else this.#tick(rate);
    try {
      await ended;
    } finally {
      for (const connection of opened) connection.close();
    }
    const { sentAt, acceptedAt } = this;
    return {
      startedAt: this.#startedAt,
      accepted: this.#accepted,
      sentAt: sentAt.slice(0, this.#next),
      acceptedAt: acceptedAt.slice(0, this.#next),
    };
  }

  responded(connection: Connection, first: number): void {
    const now = monotonicMs();
    const { batch, rate } = this.load;
    this.#busy -= 1;
    this.#accepted += batch;
    this.acceptedAt.fill(now, first, first + batch);
    if (rate !== null) this.#idle.push(connection);
    else if (this.#goesOn(now)) this.#start(connection);
    if (this.#busy === 0 && !this.#goesOn(now)) this.#done();
  }

  failed(error: Error): void {
    this.#fail(error);
  }

  #goesOn(now: number): boolean {
    return now < this.#endsAt && this.#next + this.load.batch <= this.load.maxEvents;
  }

  #start(connection: Connection): void {
    const first = this.#next;
    this.#next += this.load.batch;
    this.#busy += 1;
    this.sentAt.fill(monotonicMs(), first, first + this.load.batch);
    connection.send(first);
  }

  /** Compensates for late timers; requests without a free connection wait. */
  #tick(rate: number): void {
    const now = monotonicMs();
    const due = ((now - this.#startedAt) * rate) / 1000;
    while (this.#next < due && this.#goesOn(now)) {
      const connection = this.#idle.shift();
      if (connection === undefined) break;
      this.#start(connection);
    }
    if (this.#goesOn(now)) setTimeout(() => this.#tick(rate), 1);
    else if (this.#busy === 0) this.#done();
  }
}

const endOfHead = Buffer.from("\r\n\r\n");

class Connection {
  readonly #generator: Generator;
  readonly #request: Buffer;
  /** Positions of tenant, type and number of each event in the request. */
  readonly #places: readonly { tenant: number; type: number; number: number }[];
  #socket: Socket | undefined;
  #endpoint: number;
  #first = 0;
  #received: Buffer = Buffer.alloc(0);

  constructor(generator: Generator, index: number) {
    this.#generator = generator;
    this.#endpoint = (index * 37) % endpointCount;
    const { batch, key, port } = generator.load;
    const events = Array.from({ length: batch }, () => eventJson(0, 0));
    const body = batch === 1 ? (events[0] as string) : `[${events.join(",")}]`;
    const head = [
      "POST /api/v1/events HTTP/1.1",
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    this.#request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
    this.#places = findPlaces(this.#request);
  }

  async open(): Promise<void> {
    const socket = connect({ host: "127.0.0.1", port: this.#generator.load.port, noDelay: true });
    this.#socket = socket;
    await once(socket, "connect");
    socket.on("data", (chunk) => this.#hear(chunk));
    socket.on("error", (error) => this.#generator.failed(error));
    socket.on("close", () => this.#generator.failed(new Error("The server closed a connection.")));
  }

  close(): void {
    this.#socket?.removeAllListeners("close").destroy();
  }

  send(first: number): void {
    this.#first = first;
    let number = first;
    for (const place of this.#places) {
      // 7 and 200 are coprime, so every connection visits all endpoints
      this.#endpoint = (this.#endpoint + 7) % endpointCount;
      this.#request.write(tenantOf(this.#endpoint), place.tenant, "latin1");
      this.#request.write(typeOf(this.#endpoint), place.type, "latin1");
      writeDigits(this.#request, place.number, digits, number);
      number += 1;
    }
    this.#socket?.write(this.#request);
  }

  #hear(chunk: Buffer): void {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const body = received.indexOf(endOfHead) + endOfHead.length;
    const isWhole = body >= endOfHead.length && received.length >= body + lengthOf(received, body);
    if (!isWhole) {
      this.#received = received;
      return;
    }
    this.#received = Buffer.alloc(0);
    if (received.toString("latin1", 9, 12) === "202") this.#generator.responded(this, this.#first);
    else this.#generator.failed(new Error(`The server returned: ${received.toString().slice(0, 1_000)}`));
  }
}

function lengthOf(response: Buffer, end: number): number {
  const [, length = "0"] = /content-length: (\d+)/i.exec(response.toString("latin1", 0, end)) ?? [];
  return Number(length);
}

function findPlaces(request: Buffer): { tenant: number; type: number; number: number }[] {
  const places = [];
  for (let from = 0; ; ) {
    const tenant = request.indexOf(tenantOf(0), from);
    if (tenant === -1) return places;
    const number = request.indexOf(numberMark, tenant) + numberMark.length;
    places.push({ tenant, type: request.indexOf(typeOf(0), tenant), number });
    from = number;
  }
}
