// The commands that talk to a server, built and in processes of their own, with a server that is killed under them.
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeDataDir, posthorn, type Running } from "../support/posthorn-process.ts";

async function freePort(): Promise<string> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const { port } = holder.address() as AddressInfo;
  await new Promise((resolve) => holder.close(resolve));
  return String(port);
}

/** The program of somebody who listens. */
async function startProgram(): Promise<{ url: string; received: string[] }> {
  const received: string[] = [];
  const http = createHttpServer((request, response) => {
    received.push(String(request.headers["webhook-id"]));
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, received };
}

async function ended(running: Running): Promise<string> {
  expect(await running.exited, running.output()).toBe(0);
  return running.output();
}

test("tail and listen live through a kill -9 of the server, with the key that dev left on this machine", async () => {
  const folder = makeDataDir();
  const port = await freePort();
  const env = { POSTHORN_URL: `http://127.0.0.1:${port}` };
  const command = (...args: string[]) => posthorn(folder, args, env);
  const startDev = async (): Promise<Running> => {
    const dev = posthorn(folder, ["dev"], { PORT: port });
    await dev.said(/Ctrl\+C stops/);
    return dev;
  };
  const publish = async (type: string): Promise<string> => {
    const out = await ended(command("publish", type, "--tenant", "demo", "--json"));
    return JSON.parse(out).id;
  };

  const first = await startDev();
  const program = await startProgram();
  const tail = command("tail", "--since", "10m", "--every", "100");
  const listen = command(
    "listen",
    "--forward-to",
    program.url,
    "--events",
    "order.*",
    "--since",
    "10m",
    "--every",
    "100",
  );
  const before = await publish("order.before");
  await tail.said(new RegExp(`event    ${before} {2}demo {2}order.before`));
  await tail.said(/order\.before to ep_\S+: success, 1 attempt/);
  await listen.said(new RegExp(`200 in \\d+ ms {2}order\\.before {2}${before}`));

  first.signal("SIGKILL");
  await first.exited;
  await tail.said(/The server does not respond/);
  await listen.said(/The server does not respond/);
  const unreachable = command("events", "list");
  expect(await unreachable.exited).toBe(4);
  expect(unreachable.output()).toContain("ECONNREFUSED");

  await startDev();
  const after = await publish("order.after");
  await tail.said(new RegExp(`event    ${after}`));
  await listen.said(new RegExp(`order\\.after {2}${after}`));
  expect(program.received).toEqual([before, after]);
  expect(await ended(command("trace", after))).toMatch(/success {2}http:\/\/127\.0\.0\.1/);
  expect(await ended(command("doctor"))).toMatch(/ok +schema: "posthorn" is at version/);

  for (const running of [tail, listen]) running.signal("SIGINT");
  expect([await tail.exited, await listen.exited]).toEqual([0, 0]);
});

test("a wrong command line ends with 2, and nothing is asked or coloured without a terminal", async () => {
  const folder = makeDataDir();
  const wrong = posthorn(folder, ["events", "lst"]);
  expect(await wrong.exited).toBe(2);
  expect(wrong.output()).toContain("Did you mean list?");
  const away = posthorn(folder, ["tenants", "delete", "acme"], {
    POSTHORN_URL: "http://127.0.0.1:1",
    POSTHORN_API_KEY: "k",
  });
  expect(await away.exited).toBe(4);
  expect(away.output()).not.toContain("\u001b");
});
