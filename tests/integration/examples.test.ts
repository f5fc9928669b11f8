// The examples, run as they stand: what the README shows works when pasted.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { createDatabase, createPool } from "../support/postgres.ts";
import { adminKey, startServer } from "../support/start-server.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

test("order-paid.ts commits an order with its event, and the receiver gets it signed", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const app = run("order-paid.ts", {
    DATABASE_URL: database.connectionString,
    POSTHORN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    RECEIVER_URL: `${receiver.url}/webhooks`,
  });
  const secret = /verifies with (whsec_\S+)/.exec(await app.printed("verifies with"))?.[1] as string;
  await app.printed("committed evt_");
  const [request] = await receiver.received(1, { timeoutMs: 20_000 });
  expect(JSON.parse(String(request?.body))).toMatchObject({ type: "order.paid", data: { order: "order-1" } });

  const verifying = run("receive.ts", { WEBHOOK_SECRET: secret, PORT: String(await freePort()) });
  const url = `http://127.0.0.1:${verifying.environment.PORT}/`;
  await verifying.printed("listening");
  const resend = (body: Buffer) =>
    fetch(url, { method: "POST", headers: signatureHeaders(request?.headers), body: new Uint8Array(body) });
  expect((await resend(request?.body as Buffer)).status).toBe(204);
  expect((await resend(Buffer.from("{}"))).status).toBe(401);
  await verifying.stop();
  expect(await app.stop()).toBe(0);
});

test("publish.sql publishes from a plain SQL session", async () => {
  const server = await startServer();
  const pool = createPool(server.connectionString);
  onTestFinished(() => pool.end());
  await pool.query(readFileSync(example("publish.sql"), "utf8"));
  const { json } = await server.call("GET", "/api/v1/events?tenant=acme");
  expect(json.data).toMatchObject([{ type: "invoice.paid", subject: "inv-1", data: { invoice: "inv-1" } }]);
});

test("quickstart.sh goes from nothing to a delivery by curl", async () => {
  const server = await startServer({ sink: { sink: new Sink(), readers: "public" } });
  const { stdout } = await promisify(execFile)("sh", [example("quickstart.sh")], {
    env: { ...process.env, URL: server.url, KEY: adminKey },
  });
  expect(stdout).toContain('"duplicate":false,"deliveries":1');
  expect(stdout).toContain('"event_type":"order.paid"');
});

function run(name: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, ["--conditions=posthorn-source", "--import", "tsx", example(name)], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += String(chunk);
  });
  return {
    environment,
    printed: async (text: string): Promise<string> => {
      while (!output.includes(text)) await Promise.race([once(child.stdout, "data"), failure(child, name)]);
      return output;
    },
    stop: async (): Promise<number | null> => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      return child.exitCode;
    },
  };
}

async function failure(child: ChildProcess, name: string): Promise<never> {
  const [code] = await once(child, "exit");
  throw new Error(`${name} ended with ${code}`);
}

function signatureHeaders(headers: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  return Object.fromEntries(names.map((name) => [name, String(headers?.[name])]));
}

async function freePort(): Promise<number> {
  const receiver = await startScriptedReceiver();
  const { port } = receiver;
  await receiver.close();
  return port;
}
