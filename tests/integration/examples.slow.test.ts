// Runs the examples unchanged: the snippets of the README work when pasted.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generateSecret } from "@posthorn/wire";
import { startScriptedReceiver } from "posthorn/testing";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../benchmarks/system/ports.ts";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { run as runProcess } from "../e2e/posthorn-process.ts";
import { createDatabase, createPool } from "../support/database/postgres.ts";
import { adminKey, startServer } from "../support/servers/start-server.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

test("receive.ts receives a signed order for each run of order-paid.ts", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const secret = generateSecret();
  const port = String(await freePort());
  const receiver = run("receive.ts", { WEBHOOK_SECRET: secret, PORT: port });
  await receiver.printed(/listening/);
  const environment = {
    DATABASE_URL: database.connectionString,
    POSTHORN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    RECEIVER_URL: `http://127.0.0.1:${port}/webhooks`,
    WEBHOOK_SECRET: secret,
  };
  const first = run("order-paid.ts", environment);
  const [, made = ""] = await first.printed(/committed (evt_\S+)/);
  expect(first.output()).toContain(`the receiver verifies with ${secret}`);
  await receiver.printed(new RegExp(`order.paid ${made}`));
  expect(await first.stop("SIGINT")).toBe(0);

  const again = run("order-paid.ts", environment);
  const [, repeated = ""] = await again.printed(/committed (evt_\S+)/);
  expect(again.output()).not.toContain("whsec_"); // the endpoint is there already
  await receiver.printed(new RegExp(`order.paid ${repeated}`));
  expect(await again.stop("SIGTERM")).toBe(0);
  expect(await receiver.stop("SIGINT")).toBe(0);
});

test("publish.sql publishes from a plain SQL session", async () => {
  const server = await startServer();
  const pool = createPool(server.connectionString);
  onTestFinished(() => pool.end());
  await pool.query(readFileSync(example("publish.sql"), "utf8"));
  const { json } = await server.call("GET", "/api/v1/events?tenant=acme");
  expect(json.data).toMatchObject([{ type: "invoice.paid", subject: "inv-1", data: { invoice: "inv-1" } }]);
});

test("quickstart.sh delivers an event with curl, and move-receiver.sh migrates from a vendor's signature to the standard's", async () => {
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

function run(name: string, environment: Record<string, string>) {
  const command = [process.execPath, "--conditions=posthorn-source", "--import", "tsx", example(name)];
  return runProcess(command, process.cwd(), tmpdir(), environment);
}

test("many-customers.ts sets up a catalogue, a key, a customer and an endpoint, and its event arrives", async () => {
  const server = await startServer();
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  const environment = { POSTHORN_URL: server.url, POSTHORN_API_KEY: adminKey, RECEIVER_URL: receiver.url };
  const started = run("many-customers.ts", environment);
  await started.printed(/did not match/);
  expect(started.output()).toContain("1 deliveries, 0 endpoints");
  const [request] = await receiver.received(1);
  expect(JSON.parse(String(request?.body)).data.card.number).toBe("4242 4242 4242 4242");
  const again = run("many-customers.ts", environment);
  await again.printed(/did not match/);
  expect(again.output()).not.toContain("verifies with");
  const { json } = await server.call("GET", "/api/v1/tenants/acme/endpoints");
  expect(json.data).toHaveLength(1);
  const keys: { name: string }[] = (await server.call("GET", "/api/v1/keys")).json.data;
  expect(keys.filter(({ name }) => name === "billing")).toHaveLength(1);
});
