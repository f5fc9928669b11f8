// The receivers' process: eight endpoints with ports of their own, and a log that is only ever appended to. Nothing
// here is ever killed, cut off or frozen: what it wrote down is what happened.
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { answerParent } from "../benchmarks/helper.ts";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import type { ReceivedContent, ReceivedRequest } from "./evidence.ts";
import { chooseManner, type Encounter, type MannerName, manners } from "./manners.ts";
import { type Random, stream } from "./random.ts";

export interface Opening {
  readonly seed: number;
  readonly logPath: string;
  readonly names: readonly string[];
  /** Addresses no delivery may reach: whoever connects is written down. */
  readonly canaries: readonly string[];
}

export interface Opened {
  readonly ports: Readonly<Record<string, number>>;
  /** The port on all canary addresses; null where the machine has no such addresses. */
  readonly canaryPort: number | null;
}

let log = -1;
let mood: "well" | "seeded" | "away" = "well";
/** The one that takes every request and answers none. */
let blackHole: string | null = null;
let forbiddenUrl = "";
let secrets: Readonly<Record<string, string>> = {};
let count = 0;
const openBySender = new Map<string, number>();

answerParent({
  open,
  /** `whsec_…` by endpoint. */
  learn: (given: Record<string, string>) => {
    secrets = given;
  },
  become: (wanted: typeof mood) => {
    mood = wanted;
  },
  swallow: (endpoint: string | null) => {
    blackHole = endpoint;
  },
  /** Requests that are open now, by the process that sent them. */
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
      if (mood === "away") socket.resetAndDestroy();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ports[name] = (server.address() as AddressInfo).port;
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
    server.listen(port, address);
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  }
  forbiddenUrl = `http://${addresses[0]}:${port}/`;
  return port;
}

function receive(endpoint: string, random: Random, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if (mood === "away") {
    socket.resetAndDestroy();
    return;
  }
  const name = mannerOf(endpoint, random);
  const { act, readsBody } = manners[name];
  const visit = noteVisit(endpoint, name, request, response);
  const encounter: Encounter = {
    response,
    socket,
    random,
    forbiddenUrl,
    answering(status, retryAfterMs) {
      visit.answer = { status, answeredAt: monotonicMs(), retryAfterMs: retryAfterMs ?? null };
    },
    done() {
      visit.endedAt = monotonicMs();
    },
  };
  if (!readsBody) {
    act(encounter);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    visit.content = read(request, Buffer.concat(chunks));
    act(encounter);
  });
}

function mannerOf(endpoint: string, random: Random): MannerName {
  if (endpoint === blackHole) return "hang";
  return mood === "well" ? "well" : chooseManner(random);
}

interface Visit {
  answer: Pick<ReceivedRequest, "status" | "answeredAt" | "retryAfterMs">;
  /** When the receiver was done with it; null: the sender went away. */
  endedAt: number | null;
  content: ReceivedContent | null;
}

/** Written down when it comes, and once more, with what became of it, when it is over. */
function noteVisit(
  endpoint: string,
  manner: MannerName,
  request: IncomingMessage,
  response: ServerResponse,
): Visit {
  const { headers } = request;
  const sender = String(headers["user-agent"]);
  count += 1;
  const number = count;
  write({
    what: "came",
    number,
    endpoint,
    eventId: headers["x-webhook-id"],
    deliveryId: headers["x-webhook-delivery-id"],
    attempt: Number(headers["x-webhook-attempt"]),
    sender,
    arrivedAt: monotonicMs(),
    manner,
  });
  const visit: Visit = {
    answer: { status: null, answeredAt: null, retryAfterMs: null },
    endedAt: null,
    content: null,
  };
  openBySender.set(sender, (openBySender.get(sender) ?? 0) + 1);
  request.on("error", () => {});
  response.on("error", () => {});
  response.once("close", () => {
    openBySender.set(sender, (openBySender.get(sender) as number) - 1);
    const { answer, endedAt, content } = visit;
    write({ what: "ended", number, ...answer, endedAt: endedAt ?? monotonicMs(), content });
  });
  return visit;
}

const dataMark = Buffer.from(',"data":');

/** Checked with nothing of Posthorn's own: a mistake on both sides would not show. */
function read({ headers }: IncomingMessage, body: Buffer): ReceivedContent {
  const { tenant_id, subject, sequence, data } = parse(body);
  const id = String(headers["webhook-id"]);
  const timestamp = String(headers["webhook-timestamp"]);
  const hexHash = (key: string) =>
    createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
  const base64Hash = (key: Buffer) =>
    createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const fitting = (matches: (secret: string) => boolean) =>
    Object.keys(secrets).filter((name) => matches(secrets[name] as string));
  return {
    key: String((data as { key?: string } | undefined)?.key),
    tenant: String(tenant_id),
    subject: subject ?? null,
    sequence: sequence ?? null,
    sha256: sha256(body.subarray(body.indexOf(dataMark) + dataMark.length, -1)),
    signedFor: {
      "t-v1": fitting((secret) => headers["x-webhook-signature"] === `t=${timestamp},v1=${hexHash(secret)}`),
      "standard-webhooks": fitting(
        (secret) =>
          headers["webhook-signature"] ===
          `v1,${base64Hash(Buffer.from(secret.slice("whsec_".length), "base64"))}`,
      ),
    },
    timestampAheadMs: Number(timestamp) * 1_000 - Date.now(),
  };
}

/** What is no JSON belongs to no key, and so to no event that was published. */
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
