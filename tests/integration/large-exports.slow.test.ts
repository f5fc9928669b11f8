// More rows than fit into memory are exported by a server and a command: 90 MB of rows through 64 MB of heap.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase, createPool } from "../support/database/postgres.ts";

const ROWS = 15_000;
const PAYLOAD_BYTES = 6_000;
const KEY = "a-key-for-tests-of-more-than-32-characters";

const FLAGS = ["--conditions=posthorn-source", "--import", "tsx", "--max-old-space-size=64"];
const server = fileURLToPath(new URL("../support/processes/api-child.ts", import.meta.url));
const command = fileURLToPath(new URL("../../packages/server/src/cli/main.ts", import.meta.url));

function start(file: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...FLAGS, file, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function storeEvents(connectionString: string): Promise<void> {
  const pool = createPool(connectionString);
  await pool.query("insert into posthorn.tenants (id) values ('acme')");
  await pool.query(
    `insert into posthorn.events (id, tenant, type, api_version, payload)
     select posthorn.uuidv7(now()), 'acme', 'order.paid', '1', convert_to(to_json(repeat('x', $2))::text, 'UTF8')
     from generate_series(1, $1::integer)`,
    [ROWS, PAYLOAD_BYTES],
  );
  await pool.end();
}

test("more events than fit into memory are exported, with bounded memory on both sides", async () => {
  const database = await createMigratedDatabase();
  onTestFinished(() => database.drop());
  await storeEvents(database.connectionString);
  const serving = start(server, [database.connectionString, KEY]);
  const [url] = await once(createInterface(serving.stdout), "line");
  const exporting = start(command, ["export", "events", "--format", "csv"], {
    POSTHORN_URL: url,
    POSTHORN_API_KEY: KEY,
  });
  const ids = new Set<string>();
  let bytes = 0;
  for await (const line of createInterface(exporting.stdout)) {
    bytes += line.length;
    ids.add(line.slice(0, line.indexOf(",")));
  }
  const code = exporting.exitCode ?? (await once(exporting, "exit"))[0];
  // and the header
  expect([code, ids.size]).toEqual([0, ROWS + 1]);
  expect(bytes).toBeGreaterThan(ROWS * PAYLOAD_BYTES);
  expect(serving.exitCode).toBeNull();
});
