// A minimal receiver: 200 ports on loopback, each a separate origin, with just enough HTTP to respond. It records when each
// event arrived, and counts duplicates and open requests. It can be set to fail.
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { certificates } from "../../tests/support/samples/certificates.ts";
import { monotonicMs } from "../system/monotonic.ts";
import { listen } from "../system/ports.ts";
import { handleMessages } from "../system/subprocess.ts";
import { endpointCount, numberMark, readDigits } from "../workload.ts";

export interface Arrivals {
  readonly count: number;
  readonly duplicates: number;
  /** By event number; 0 if it did not arrive. */
  readonly at: Float64Array;
}

export interface Progress {
  readonly count: number;
  readonly firstAt: number;
}

/** Certificates of an authority that the senders trust by NODE_EXTRA_CA_CERTS. */
const tlsOptions = {
  key: certificates.key,
  cert: certificates.valid,
  minVersion: "TLSv1.3",
  noDelay: true,
} as const;

let at = new Float64Array(0);
let count = 0;
let duplicates = 0;
let firstAt = 0;
let delayMs = 0;
let isDown = false;
let open = 0;
let mostOpen = 0;
let mostOpenOfOne = 0;

export interface OpenRequests {
  /** Most open requests at a time since the last reset, over all endpoints. */
  readonly most: number;
  /** Most open requests of one endpoint. */
  readonly mostOfOne: number;
}

handleMessages({
  listen: listenAll,
  expect: (numbers: number) => {
    at = new Float64Array(numbers);
    count = 0;
    duplicates = 0;
    firstAt = 0;
    mostOpen = 0;
    mostOpenOfOne = 0;
  },
  openRequests: (): OpenRequests => ({ most: mostOpen, mostOfOne: mostOpenOfOne }),
  /** While down, every response is a 500 and no arrival counts. */
  down: (value: boolean) => {
    isDown = value;
  },
  /** Opens a port that accepts requests and never responds. */
  blackHole: () => listen(createServer((socket) => socket.on("error", () => {}).resume())),
  progress: (): Progress => ({ count, firstAt }),
  arrivals: (): Arrivals => ({ count, duplicates, at }),
  /** Delays every response. */
  delay: (ms: number) => {
    delayMs = ms;
  },
});

async function listenAll(scheme: "http" | "https"): Promise<number[]> {
  const ports: number[] = [];
  for (let index = 0; index < endpointCount; index += 1) {
    const server =
      scheme === "https" ? createTlsServer(tlsOptions, receive) : createServer({ noDelay: true }, receive);
    ports.push(await listen(server));
  }
  return ports;
}

const ok = Buffer.from("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok");
const failed = Buffer.from("HTTP/1.1 500 Down\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ndown");
const endOfHead = Buffer.from("\r\n\r\n");
const lengthName = Buffer.from("content-length: ");
const mark = Buffer.from(numberMark);

function receive(socket: Socket): void {
  let kept: Buffer | null = null;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    kept = take(socket, kept === null ? chunk : Buffer.concat([kept, chunk]));
  });
}

/** Responds to each complete request and returns the remaining bytes. */
function take(socket: Socket, bytes: Buffer): Buffer | null {
  let rest = bytes;
  while (rest.length > 0) {
    const body = rest.indexOf(endOfHead) + endOfHead.length;
    if (body < endOfHead.length) return rest;
    const end = body + lengthOf(rest);
    if (rest.length < end) return rest;
    if (isDown) socket.write(failed);
    else respond(socket, rest, body);
    rest = rest.subarray(end);
  }
  return null;
}

function respond(socket: Socket, request: Buffer, body: number): void {
  note(request, body);
  if (delayMs === 0) {
    socket.write(ok);
    return;
  }
  const endpoint = request.toString("latin1", 0, request.indexOf("\r")) + socket.localPort;
  begin(endpoint);
  setTimeout(() => {
    end(endpoint);
    socket.write(ok);
  }, delayMs);
}

const openOf = new Map<string, number>();

function begin(endpoint: string): void {
  const ofOne = (openOf.get(endpoint) ?? 0) + 1;
  openOf.set(endpoint, ofOne);
  open += 1;
  mostOpen = Math.max(mostOpen, open);
  mostOpenOfOne = Math.max(mostOpenOfOne, ofOne);
}

function end(endpoint: string): void {
  openOf.set(endpoint, (openOf.get(endpoint) ?? 1) - 1);
  open -= 1;
}

function lengthOf(request: Buffer): number {
  let value = 0;
  for (let offset = request.indexOf(lengthName) + lengthName.length; ; offset += 1) {
    const digit = (request[offset] as number) - 0x30;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}

function note(request: Buffer, body: number): void {
  const number = readDigits(request, request.indexOf(mark, body) + mark.length);
  const now = monotonicMs();
  if (count === 0) firstAt = now;
  count += 1;
  if (at[number] !== 0) duplicates += 1;
  else at[number] = now;
}
