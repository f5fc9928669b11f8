// Notifications survive the process that wrote them. Uses a real PostgreSQL and a clock that tests move.
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase, createPool } from "../../../../tests/support/postgres.ts";
import { parseAddressPolicy } from "../attempt/guard/guard-address.ts";
import { type Logger, silentLogger } from "../observe/log.ts";
import { createEndpoints } from "../resources/endpoints/endpoints.ts";
import { parseKeyRing } from "../storage/key-ring.ts";
import { claimNotifications } from "../storage/queries/notifications/claim.ts";
import type { DisabledEndpoint } from "../storage/queries/notifications/describe.ts";
import { pruneNotifications } from "../storage/queries/notifications/settle.ts";
import { createTestInstance, type TestInstance, type TestInstanceOptions } from "../testing/index.ts";
import { createAnnounce } from "./announce.ts";
import { createMailChannel, type MailMessage, type SendMail } from "./mail-channel.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

type Options = Partial<TestInstanceOptions>;

/** One database with any number of instances; `acme` has an owner and an endpoint. */
async function open() {
  const database = await createMigratedDatabase();
  const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
  const instances: TestInstance[] = [];
  onTestFinished(async () => {
    await Promise.all(instances.map(({ hooks }) => hooks.stop({ graceMs: 0 })));
    await database.drop();
  });
  const start = async (options: Options = {}): Promise<TestInstance> => {
    const instance = await createTestInstance({
      database: database.connectionString,
      encryptionKeys,
      ...options,
    });
    instances.push(instance);
    return instance;
  };
  const first = await start({ started: false, sendMail: neverSend });
  await first.hooks.tenants.upsert("acme");
  await first.hooks.members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  const { endpoint } = await first.hooks.endpoints.create("acme", {
    url: "https://example.com/hooks",
    events: ["*"],
  });
  const pool = createPool(database.connectionString);
  onTestFinished(() => pool.end());
  return { start, first, pool, encryptionKeys, endpointId: endpoint.id, uuid: endpoint.id.slice(3) };
}

const neverSend: SendMail = async () => {
  throw new Error("This instance was not to send anything.");
};

/** As the engine does it: the public type hides it from applications. */
function disableAfter({ hooks }: TestInstance, uuid: string): Promise<boolean> {
  const { disableAfter } = hooks.endpoints as unknown as {
    disableAfter(id: string, cause: string): Promise<boolean>;
  };
  return disableAfter(uuid, "failures");
}

function recorder(work: (mail: MailMessage) => Promise<void> = async () => {}) {
  const mails: MailMessage[] = [];
  const sendMail: SendMail = async (mail) => {
    mails.push(mail);
    await work(mail);
  };
  return { mails, sendMail };
}

const disabled: DisabledEndpoint = {
  endpointId: "01890000-0000-7000-8000-000000000000",
  tenant: "acme",
  tenantName: null,
  url: "https://example.com/hooks",
  description: null,
  reason: "gone",
  disabledMs: 0,
  backlog: 0,
  lastFailure: null,
};

function logInto(lines: string[]): Logger {
  const at = (level: string) => (message: string) => lines.push(`${level} ${message}`);
  return { debug: () => {}, info: () => {}, warn: at("warn"), error: at("error") };
}

test("a notification written before a crash is sent by the next process", async () => {
  const { start, first, uuid } = await open();
  expect(await disableAfter(first, uuid)).toBe(true);
  await first.hooks.stop();
  const { mails, sendMail } = recorder();
  await (await start({ sendMail })).settle();
  expect(mails).toMatchObject([
    { to: ["anna@example.com"], text: expect.stringContaining("Too many attempts in a row failed") },
  ]);
});

test("a notification that a crashed process was sending is sent by another after the lease", async () => {
  const { start, first, uuid } = await open();
  await disableAfter(first, uuid);
  expect(await claimNotifications(first.hooks.db, "mail", { limit: 5, leaseMs: 15 * minute })).toHaveLength(
    1,
  );

  const { mails, sendMail } = recorder();
  const other = await start({ sendMail });
  await other.advance(14 * minute);
  await other.settle();
  expect(mails).toHaveLength(0);
  await other.advance(2 * minute);
  await other.settle();
  expect(mails).toHaveLength(1);
});

test("two processes send a notification once", async () => {
  const { start, first, uuid } = await open();
  const { mails, sendMail } = recorder();
  const both = [await start({ sendMail }), await start({ sendMail })];
  await disableAfter(first, uuid);
  await Promise.all(both.map((instance) => instance.settle()));
  await both[0]?.advance(day);
  await Promise.all(both.map((instance) => instance.settle()));
  expect(mails).toHaveLength(1);
});

test("a rolled-back disabling sends no notification", async () => {
  const { start, first, pool, encryptionKeys, endpointId, uuid } = await open();
  const { mails, sendMail } = recorder();
  const announce = createAnnounce({ operatorTenant: null, sendMail, alertWebhookUrl: null });
  const failing = createEndpoints({
    db: first.hooks.db,
    keyRing: parseKeyRing(encryptionKeys),
    addressPolicy: parseAddressPolicy({ allowHttp: true }),
    defaults: {} as never,
    nowMs: () => Date.now(),
    typeProblems: async () => () => null,
    hiding: async () => () => false,
    announce: async (tx, disabled) => {
      await announce(tx, disabled);
      throw new Error("the connection broke");
    },
  });
  await expect(failing.disableAfter(uuid, "gone")).rejects.toThrow("the connection broke");

  const { hooks, settle } = await start({ sendMail });
  await settle();
  expect(mails).toHaveLength(0);
  expect(await hooks.endpoints.get("acme", endpointId)).toMatchObject({
    isActive: true,
    disabledReason: null,
  });
  for (const table of ["notifications", "outbox", "events"]) {
    expect([table, (await pool.query(`select * from posthorn.${table}`)).rows]).toEqual([table, []]);
  }
});

test("an endpoint that was enabled or deleted meanwhile causes no notification", async () => {
  const { start, first, endpointId, uuid } = await open();
  await disableAfter(first, uuid);
  await first.hooks.endpoints.enable("acme", endpointId);
  const { mails, sendMail } = recorder();
  const { hooks, settle } = await start({ sendMail });
  await settle();
  expect(mails).toHaveLength(0);

  // only the second disabling is notified
  await disableAfter(first, uuid);
  await settle();
  expect(mails).toHaveLength(1);
  await hooks.endpoints.enable("acme", endpointId);
  await first.advance(1_000);
  await disableAfter(first, uuid);
  await hooks.endpoints.delete("acme", endpointId);
  await settle();
  expect(mails).toHaveLength(1);
});

test("an endpoint that is disabled repeatedly causes one notification an hour, about the last time", async () => {
  const { start, first, endpointId, uuid, pool } = await open();
  const { mails, sendMail } = recorder();
  const { hooks, settle, advance } = await start({ sendMail });
  const disableAgain = async (): Promise<void> => {
    await hooks.endpoints.enable("acme", endpointId);
    await disableAfter(first, uuid);
    await settle();
  };
  await disableAfter(first, uuid);
  await settle();
  expect(mails).toHaveLength(1);
  for (let n = 0; n < 20; n += 1) {
    await advance(1_000);
    await disableAgain();
  }
  await advance(59 * minute);
  await settle();
  expect(mails).toHaveLength(1);
  expect((await pool.query("select from posthorn.notifications")).rows).toHaveLength(2);
  await advance(minute);
  await settle();
  expect(mails).toHaveLength(2);
  await disableAgain();
  expect(mails).toHaveLength(2);
  await hooks.endpoints.enable("acme", endpointId);
  await advance(day);
  await settle();
  expect(mails).toHaveLength(2);
  await disableAfter(first, uuid);
  await settle();
  expect(mails).toHaveLength(3);
});

test("after a failed notification, the next disabling is notified at once", async () => {
  const { start, first, endpointId, uuid } = await open();
  let isDown = true;
  const { mails, sendMail } = recorder(async () => {
    if (isDown) throw new Error("no mail today");
  });
  const { hooks, settle, advance } = await start({ sendMail });
  await disableAfter(first, uuid);
  await settle();
  isDown = false;
  await hooks.endpoints.enable("acme", endpointId);
  await advance(1_000);
  await disableAfter(first, uuid);
  await settle();
  expect(mails).toHaveLength(2);
});

test("a notification is tried eight times over two days, then discarded with an error", async () => {
  const { start, first, uuid, pool } = await open();
  const lines: string[] = [];
  const { mails, sendMail } = recorder(() => Promise.reject(new Error("mailbox\0 full\r\n")));
  const instance = await start({ sendMail, logger: logInto(lines) });
  await disableAfter(first, uuid);
  await instance.settle();
  for (const gap of [1, 5, 15, 60, 360, 720, 1_440]) {
    const before = mails.length;
    await instance.advance(gap * minute * 0.85);
    await instance.settle();
    expect([gap, mails.length]).toEqual([gap, before]);
    await instance.advance(gap * minute * 0.3);
    await instance.settle();
    expect([gap, mails.length]).toEqual([gap, before + 1]);
  }
  expect(mails).toHaveLength(8);
  expect(lines.filter((line) => line.startsWith("error"))).toEqual([
    "error notification of a disabled endpoint discarded",
  ]);
  await instance.advance(5 * day);
  await instance.settle();
  expect(mails).toHaveLength(8);
  const { rows } = await pool.query("select attempts, next_at, last_error from posthorn.notifications");
  expect(rows).toEqual([{ attempts: 8, next_at: null, last_error: "mailbox full" }]);
});

test("a mail that never completes does not prevent stopping", async () => {
  const { start, uuid, pool } = await open();
  let begun = (): void => {};
  const isSending = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { sendMail } = recorder(() => {
    begun();
    return new Promise(() => {});
  });
  const instance = await start({ sendMail });
  await disableAfter(instance, uuid);
  await isSending;
  await instance.hooks.stop({ graceMs: 50 });
  const { rows } = await pool.query(
    "select attempts, next_at is null as done, last_error from posthorn.notifications",
  );
  expect(rows).toEqual([{ attempts: 1, done: false, last_error: "this process is stopping" }]);
});

test("a mail that never completes times out, and the next one is sent", async () => {
  const { first } = await open();
  await first.hooks.members.put("acme", "bert", { role: "admin", email: "bert@example.com" });
  const { sendMail } = recorder(({ to: [address] }) =>
    address === "anna@example.com" ? new Promise(() => {}) : Promise.resolve(),
  );
  const channel = createMailChannel({
    db: first.hooks.db,
    logger: silentLogger,
    sendMail,
    publicUrl: null,
    timeoutMs: 20,
  });
  expect(await channel.send(disabled, [], new AbortController().signal)).toEqual({
    notified: ["bert@example.com"],
    problems: ["timed out after 20 ms"],
  });
  expect(await channel.send(disabled, ["bert@example.com"], AbortSignal.abort())).toEqual({
    notified: [],
    problems: ["this process is stopping"],
  });
});

test("a tenant without recipients is logged", async () => {
  const { start, first, uuid } = await open();
  await first.hooks.members.put("acme", "anna", { role: "owner", email: null });
  await first.hooks.members.put("acme", "bert", { role: "member", email: "bert@example.com" });
  const lines: string[] = [];
  const { mails, sendMail } = recorder();
  const { settle } = await start({ sendMail, logger: logInto(lines) });
  await disableAfter(first, uuid);
  await settle();
  expect(mails).toHaveLength(0);
  expect(lines).toEqual(["warn no recipients: the tenant has no owner or admin with an e-mail address"]);
});

test("at most fifty addresses get a mail, each address one", async () => {
  const { start, first, uuid } = await open();
  for (let i = 0; i < 60; i += 1) {
    const email = `user-${String(i % 55).padStart(2, "0")}@example.com`;
    await first.hooks.members.put("acme", `user-${i}`, { role: "admin", email });
  }
  const { mails, sendMail } = recorder();
  const { settle } = await start({ sendMail });
  await disableAfter(first, uuid);
  await settle();
  expect(mails).toHaveLength(50);
  expect(new Set(mails.map(({ to }) => to[0])).size).toBe(50);
});

test("notifications are deleted after a month, in bounded steps", async () => {
  const { first, uuid, pool } = await open();
  const { advance, hooks } = first;
  await disableAfter(first, uuid);
  await pool.query(
    "insert into posthorn.notifications (channel, endpoint_id, disabled_at) select 'mail', $1, now() from generate_series(1, 4)",
    [uuid],
  );
  await advance(30 * day - minute);
  expect(await pruneNotifications(hooks.db, 3)).toBe(0);
  await advance(2 * minute);
  expect(await pruneNotifications(hooks.db, 3)).toBe(3);
  expect(await pruneNotifications(hooks.db, 3)).toBe(2);
});

test("a send function that returns no promise counts as sent", async () => {
  const { start, first, uuid } = await open();
  const mails: MailMessage[] = [];
  const { settle, advance } = await start({
    sendMail: ((mail: MailMessage) => void mails.push(mail)) as never,
  });
  await disableAfter(first, uuid);
  await settle();
  await advance(day);
  await settle();
  expect(mails).toHaveLength(1);
});

test("an operator tenant that does not exist is an error at the start", async () => {
  const { start, first } = await open();
  const lines: string[] = [];
  const options = { operatorTenant: "operators", logger: logInto(lines) };
  await start(options);
  expect(lines).toEqual([expect.stringContaining("warn the operator tenant does not exist")]);
  await first.hooks.tenants.upsert("operators");
  await start(options);
  expect(lines).toHaveLength(1);
});

test("without channels no notification is written", async () => {
  const { start, pool, uuid } = await open();
  const instance = await start({ started: false });
  expect(await disableAfter(instance, uuid)).toBe(true);
  expect((await pool.query("select from posthorn.notifications")).rows).toHaveLength(0);
  expect((await pool.query("select from posthorn.outbox")).rows).toHaveLength(1);
});
