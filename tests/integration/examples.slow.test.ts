// The examples, run as they stand: what the README shows works when pasted.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generateSecret, sign } from "@posthorn/wire";
import { startScriptedReceiver } from "posthorn/testing";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { expect, onTestFinished, test } from "vitest";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { createDatabase, createPool } from "../support/postgres.ts";
import { adminKey, startServer } from "../support/start-server.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

test("receive.ts is started first, order-paid.ts as often as you like, and each order arrives signed", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const secret = generateSecret();
  const receiver = run("receive.ts", { WEBHOOK_SECRET: secret, PORT: String(await freePort()) });
  await receiver.printed("listening");
  const environment = {
    DATABASE_URL: database.connectionString,
    POSTHORN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    RECEIVER_URL: `http://127.0.0.1:${receiver.environment.PORT}/webhooks`,
    WEBHOOK_SECRET: secret,
  };
  const first = run("order-paid.ts", environment);
  const made = await first.printed("committed evt_");
  expect(made).toContain(`the receiver verifies with ${secret}`);
  await receiver.printed(`order.paid ${eventIdIn(made)}`);
  expect(await first.stop("SIGINT")).toBe(0);

  const again = run("order-paid.ts", environment);
  const repeated = await again.printed("committed evt_");
  expect(repeated).not.toContain("whsec_"); // the endpoint is there already
  await receiver.printed(`order.paid ${eventIdIn(repeated)}`);
  expect(await again.stop("SIGTERM")).toBe(0);
  expect(await receiver.stop("SIGINT")).toBe(0);
});

test("receive.ts refuses what is not signed, not JSON or too large, and outlives it all", async () => {
  const secret = generateSecret();
  const receiver = run("receive.ts", { WEBHOOK_SECRET: secret, PORT: String(await freePort()) });
  await receiver.printed("listening");
  const url = `http://127.0.0.1:${receiver.environment.PORT}/`;
  const post = async (body: string, key: string | null): Promise<number> => {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const message = { id: "evt_1", timestamp, body: Buffer.from(body) };
    const headers =
      key === null ? {} : await sign({ ...message, schemes: ["standard-webhooks"], secrets: [key] });
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  const event = JSON.stringify({ id: "evt_1", type: "order.paid" });
  expect(await post(event, null)).toBe(401);
  expect(await post(event, generateSecret())).toBe(401);
  expect(await post("no JSON", secret)).toBe(400);
  expect(await post("null", secret)).toBe(400);
  expect(await post("x".repeat(1024 * 1024 + 1), secret)).toBe(413);
  await breakOff(Number(receiver.environment.PORT));
  expect(await post(event, secret)).toBe(200);
  expect(await receiver.stop("SIGTERM")).toBe(0);
});

test.each(["", "secret", "whsec_x"])("receive.ts does not start with %o for a secret", async (given) => {
  const { code, stderr } = await promisify(execFile)(process.execPath, [...flags, example("receive.ts")], {
    env: { ...process.env, WEBHOOK_SECRET: given, PORT: "0" },
  }).catch((error) => error);
  expect(code).toBe(1);
  expect(stderr).toContain("secrets[0] of posthorn()");
});

test("publish.sql publishes from a plain SQL session", async () => {
  const server = await startServer();
  const pool = createPool(server.connectionString);
  onTestFinished(() => pool.end());
  await pool.query(readFileSync(example("publish.sql"), "utf8"));
  const { json } = await server.call("GET", "/api/v1/events?tenant=acme");
  expect(json.data).toMatchObject([{ type: "invoice.paid", subject: "inv-1", data: { invoice: "inv-1" } }]);
});

test("quickstart.sh goes from nothing to a delivery by curl, move-receiver.sh from a vendor's signature to the standard's", async () => {
  const server = await startServer({ sink: { sink: new Sink(), readers: "public" } });
  const { stdout } = await promisify(execFile)("sh", [example("quickstart.sh")], {
    env: { ...process.env, POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey },
  });
  expect(stdout).toContain('"duplicate":false,"deliveries":1');
  expect(stdout).toContain('"event_type":"order.paid"');
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => typeof JSON.parse(line)),
  ).toEqual(Array(4).fill("object"));

  const moved = await promisify(execFile)("sh", [example("move-receiver.sh")], {
    env: { ...process.env, POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey, OLD_SECRET: "whsec_old" },
  });
  const [, before, rotated, , both, last] = moved.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(Object.keys(before.headers).filter((name) => /signature/i.test(name))).toEqual(["Stripe-Signature"]);
  for (const { body, headers } of [before, both])
    expect(Stripe.webhooks.constructEvent(body, headers["Stripe-Signature"], "whsec_old")).toMatchObject({
      id: "order-1",
    });
  expect(new Webhook(rotated.secret).verify(both.body, both.headers)).toMatchObject({ id: "order-1" });
  expect(last.signature.schemes).toEqual(["standard-webhooks"]);
});

const flags = ["--conditions=posthorn-source", "--import", "tsx"];

function run(name: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, [...flags, example(name)], {
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
    stop: async (signal: "SIGTERM" | "SIGINT"): Promise<number | null> => {
      child.kill(signal);
      if (child.exitCode === null) await once(child, "exit");
      return child.exitCode;
    },
  };
}

async function failure(child: ChildProcess, name: string): Promise<never> {
  const [code] = await once(child, "exit");
  throw new Error(`${name} ended with ${code}`);
}

function eventIdIn(output: string): string {
  return /committed (evt_\S+)/.exec(output)?.[1] as string;
}

/** A sender that goes away in the middle of its request. */
async function breakOff(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
  socket.resetAndDestroy();
  await once(socket, "close");
}

async function freePort(): Promise<number> {
  const receiver = await startScriptedReceiver();
  const { port } = receiver;
  await receiver.close();
  return port;
}

test("many-customers.ts sets up a catalogue, a key, a customer and an endpoint, and its event arrives", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const environment = { POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey, RECEIVER_URL: receiver.url };
  const started = run("many-customers.ts", environment);
  expect(await started.printed("did not match")).toContain("1 deliveries, 0 endpoints");
  const [request] = await receiver.received(1);
  expect(JSON.parse(String(request?.body)).data.card.number).toBe("4242 4242 4242 4242");
  const again = run("many-customers.ts", environment);
  expect(await again.printed("did not match")).not.toContain("verifies with");
  const { json } = await server.call("GET", "/api/v1/tenants/acme/endpoints");
  expect(json.data).toHaveLength(1);
  expect((await server.call("GET", "/api/v1/keys")).json.data.filter(isBilling)).toHaveLength(1);
});

function isBilling({ name }: { name: string }): boolean {
  return name === "billing";
}
