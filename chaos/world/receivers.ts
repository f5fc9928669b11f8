// The receivers' process: the endpoints, each with its own port, and an append-only log. It is never killed, frozen or
// disconnected, so its log is reliable.
import { createHash, createHmac } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import { listen } from "../../benchmarks/system/ports.ts";
import { handleMessages } from "../../benchmarks/system/subprocess.ts";
import type { ReceivedContent, ReceivedRequest } from "../evidence/evidence.ts";
import { type Random, stream } from "../random.ts";
import { type BehaviourName, behaviours, chooseBehaviour, type Exchange } from "./behaviours.ts";
import { slowReceiver } from "./endpoints.ts";

export interface Opening {
  readonly seed: number;
  readonly logPath: string;
  readonly names: readonly string[];
  /** Forbidden addresses; connections to them are logged. */
  readonly canaries: readonly string[];
}

export interface Opened {
  readonly ports: Readonly<Record<string, number>>;
  /** The port on all canary addresses; null if the machine lacks these addresses. */
  readonly canaryPort: number | null;
}

let log = -1;
let mode: "healthy" | "faulty" | "unreachable" = "healthy";
/** The endpoint that accepts requests and never responds. */
let blackHole: string | null = null;
let forbiddenUrl = "";
let secrets: Readonly<Record<string, string>> = {};
let count = 0;
const openBySender = new Map<string, number>();

handleMessages({
  open,
  /** `whsec_…` by endpoint. */
  setSecrets: (given: Record<string, string>) => {
    secrets = given;
  },
  setMode: (wanted: typeof mode) => {
    mode = wanted;
  },
  setBlackHole: (endpoint: string | null) => {
    blackHole = endpoint;
  },
  /** Open requests by sending process. */
  openBySender: () => Object.fromEntries(openBySender),
});

function write(line: object): void {
  writeSync(log, `${JSON.stringify(line)}\n`);
}

async function open({ seed, logPath, names, canaries }: Opening): Promise<Opened> {
  log = openSync(logPath, "a");
  const ports: Record<string, number> = {};
  for (const name of names) {
    const random = stream(seed, `receiver ${name}`);
    const server = createServer((request, response) => receive(name, random, request, response));
    server.on("connection", (socket: Socket) => {
      socket.on("error", () => {});
      if (mode === "unreachable") socket.resetAndDestroy();
    });
    ports[name] = await listen(server);
  }
  return { ports, canaryPort: await openCanaries(canaries).catch(() => null) };
}

async function openCanaries(addresses: readonly string[]): Promise<number> {
  let port = 0;
  for (const address of addresses) {
    const server = createTcpServer((socket) => {
      write({ what: "canary", hit: `${address}, from ${socket.remoteAddress}` });
      socket.resetAndDestroy();
    });
    port = await listen(server, port, address);
  }
  forbiddenUrl = `http://${addresses[0]}:${port}/`;
  return port;
}

function receive(endpoint: string, random: Random, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if (mode === "unreachable") {
    socket.resetAndDestroy();
    return;
  }
  const name = behaviourOf(endpoint, random);
  const { act, readsBody } = behaviours[name];
  const open = recordRequest(endpoint, name, request, response);
  const exchange: Exchange = {
    response,
    socket,
    random,
    forbiddenUrl,
    responding(status, retryAfterMs) {
      open.response = { status, respondedAt: monotonicMs(), retryAfterMs: retryAfterMs ?? null };
    },
    done() {
      open.endedAt = monotonicMs();
    },
  };
  if (!readsBody) {
    act(exchange);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    open.content = read(request, Buffer.concat(chunks));
    act(exchange);
  });
}

function behaviourOf(endpoint: string, random: Random): BehaviourName {
  if (endpoint === blackHole) return "hang";
  if (mode === "healthy") return "ok";
  return endpoint === slowReceiver ? "slow" : chooseBehaviour(random);
}

interface OpenRequest {
  response: Pick<ReceivedRequest, "status" | "respondedAt" | "retryAfterMs">;
  /** When the receiver was done; null: the sender disconnected. */
  endedAt: number | null;
  content: ReceivedContent | null;
}

/** Logs the request when it arrives and again when it ends. */
function recordRequest(
  endpoint: string,
  behaviour: BehaviourName,
  request: IncomingMessage,
  response: ServerResponse,
): OpenRequest {
  const { headers } = request;
  const sender = String(headers["user-agent"]);
  count += 1;
  const number = count;
  write({
    what: "arrived",
    number,
    endpoint,
    eventId: headers["x-webhook-id"],
    deliveryId: headers["x-webhook-delivery-id"],
    attempt: Number(headers["x-webhook-attempt"]),
    sender,
    arrivedAt: monotonicMs(),
    behaviour,
  });
  const open: OpenRequest = {
    response: { status: null, respondedAt: null, retryAfterMs: null },
    endedAt: null,
    content: null,
  };
  openBySender.set(sender, (openBySender.get(sender) ?? 0) + 1);
  request.on("error", () => {});
  response.on("error", () => {});
  response.once("close", () => {
    openBySender.set(sender, (openBySender.get(sender) as number) - 1);
    const { response: sent, endedAt, content } = open;
    write({ what: "ended", number, ...sent, endedAt: endedAt ?? monotonicMs(), content });
  });
  return open;
}

const dataMark = Buffer.from(',"data":');

/** Reads and verifies a request without Posthorn's code, which could contain the same mistake. */
function read({ headers }: IncomingMessage, body: Buffer): ReceivedContent {
  const { tenant_id, subject, sequence, data } = parse(body);
  const id = String(headers["webhook-id"]);
  const timestamp = String(headers["webhook-timestamp"]);
  const hexHash = (key: string) =>
    createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
  const base64Hash = (key: Buffer) =>
    createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const verifiedBy = (matches: (secret: string) => boolean) =>
    Object.keys(secrets).filter((name) => matches(secrets[name] as string));
  return {
    key: String((data as { key?: string } | undefined)?.key),
    tenant: String(tenant_id),
    subject: subject ?? null,
    sequence: sequence ?? null,
    sha256: sha256(body.subarray(body.indexOf(dataMark) + dataMark.length, -1)),
    signedFor: {
      "t-v1": verifiedBy(
        (secret) => headers["x-webhook-signature"] === `t=${timestamp},v1=${hexHash(secret)}`,
      ),
      "standard-webhooks": verifiedBy(
        (secret) =>
          headers["webhook-signature"] ===
          `v1,${base64Hash(Buffer.from(secret.slice("whsec_".length), "base64"))}`,
      ),
    },
    timestampAheadMs: Number(timestamp) * 1_000 - Date.now(),
  };
}

/** Returns an empty object for invalid JSON, which then matches no published event. */
function parse(body: Buffer): Record<string, never> {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
