// A minimal sender of signed requests as Posthorn sends them, built and signed beforehand. Each connection has one request
// in flight.
import { createHmac, randomUUID } from "node:crypto";
import { envelope, formatId, uuidv7 } from "@posthorn/wire";
import { monotonicMs } from "../system/monotonic.ts";
import { handleMessages } from "../system/subprocess.ts";
import { eventData, tenantOf, typeOf } from "../workload.ts";
import { openConnection } from "./load-connection.ts";

export interface SignedLoad {
  readonly port: number;
  readonly connections: number;
  /** The run ends after this time or after the last request. */
  readonly durationMs: number;
}

export interface SignedResult {
  /** Requests with a 200. */
  readonly responded: number;
  readonly elapsedMs: number;
}

let requests: Buffer[] = [];

handleMessages({
  /** Discards the prepared requests. */
  sign: ({ count, secret }: { count: number; secret: string }) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    requests = Array.from({ length: count }, (_, number) => signedRequest(number, key));
  },
  /** Keeps only the first `count` requests, to send them again. */
  keep: (count: number) => {
    requests = requests.slice(0, count);
  },
  run,
});

function signedRequest(number: number, key: Buffer): Buffer {
  const uuid = uuidv7();
  const id = formatId("evt", uuid);
  const createdAt = new Date();
  const timestamp = Math.floor(createdAt.getTime() / 1000);
  const body = envelope({
    id: uuid,
    type: typeOf(number),
    apiVersion: "1",
    createdAt,
    tenant: tenantOf(0),
    subject: null,
    sequence: null,
    payload: Buffer.from(eventData(number)),
  });
  const signed = (head: string) => createHmac("sha256", key).update(head).update(body);
  const head = [
    "POST /webhooks HTTP/1.1",
    "Host: 127.0.0.1",
    "User-Agent: Posthorn/1",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    `X-Webhook-Id: ${id}`,
    `X-Webhook-Event: ${typeOf(number)}`,
    `X-Webhook-Delivery-Id: ${formatId("dlv", randomUUID())}`,
    "X-Webhook-Attempt: 1",
    `X-Webhook-Timestamp: ${timestamp}`,
    `X-Webhook-Signature: t=${timestamp},v1=${signed(`${timestamp}.`).digest("hex")}`,
    `webhook-id: ${id}`,
    `webhook-timestamp: ${timestamp}`,
    `webhook-signature: v1,${signed(`${id}.${timestamp}.`).digest("base64")}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}

async function run({ port, connections, durationMs }: SignedLoad): Promise<SignedResult> {
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(port, 200)));
  const startedAt = monotonicMs();
  const endsAt = startedAt + durationMs;
  let next = 0;
  let responded = 0;
  try {
    await Promise.all(
      opened.map(async (connection) => {
        while (next < requests.length && monotonicMs() < endsAt) {
          await connection.send(requests[next++] as Buffer);
          responded += 1;
        }
      }),
    );
    return { responded, elapsedMs: monotonicMs() - startedAt };
  } finally {
    for (const connection of opened) connection.close();
  }
}
