// Notifications survive the process that wrote them. Uses a real PostgreSQL and a clock that tests move.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { gate } from "../../../../tests/support/gate.ts";
import { parseAddressPolicy } from "../attempt/guard/guard-address.ts";
import { subscriptionKind } from "../destinations/websub/subscriptions.ts";
import { prune } from "../maintenance/prune.ts";
import { silentLogger } from "../observe/log.ts";
import { createEndpoints } from "../resources/endpoints/endpoints.ts";
import { parseKeyRing } from "../storage/key-ring.ts";
import { claimNotifications, type Notice } from "../storage/queries/notifications/notifications.ts";
import { pruneNotifications } from "../storage/queries/retention.ts";
import type { TestInstance } from "../testing/index.ts";
import { createAnnounce } from "./announce.ts";
import { createMailChannel, type MailMessage, type SendMail } from "./mail-channel.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

const world = databasePerTest();
const publicUrl = "https://hooks.example.com";

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

/** An instance that is not started; `acme` has an owner and an endpoint. */
async function open() {
  const instance = await world.open({ started: false, sendMail: neverSend, publicUrl });
  const { endpoints, members } = instance.hooks;
  await members.put("acme", "anna", { role: "owner", email: "anna@example.com" });
  const { endpoint } = await endpoints.create("acme", { url: "https://example.com/hooks", events: ["*"] });
  const uuid = endpoint.id.slice(3);
  return {
    ...instance,
    endpointId: endpoint.id,
    uuid,
    disable: () => disableAfter(instance, uuid),
    enable: () => endpoints.enable("acme", endpoint.id),
  };
}

/** Starts an instance that sends mails, and collects them and its log lines. */
async function startSender(work: (mail: MailMessage) => unknown = async () => {}) {
  const mails: MailMessage[] = [];
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const instance = await world.open({
    logger: { ...silentLogger, warn: at("warn"), error: at("error") },
    sendMail: ((mail: MailMessage) => {
      mails.push(mail);
      return work(mail);
    }) as SendMail,
    publicUrl,
  });
  return { ...instance, mails, lines };
}

async function notifications(columns: string): Promise<unknown[]> {
  return (await world.pool.query(`select ${columns} from posthorn.notifications`)).rows;
}

const disabled: Notice = {
  kind: "disabled",
  endpointId: "01890000-0000-7000-8000-000000000000",
  tenant: "acme",
  tenantName: null,
  url: "https://example.com/hooks",
  description: null,
  sinceMs: 0,
  count: 1,
  disabledReason: "gone",
  backlog: 0,
  lastFailure: null,
};

test("a notification written before a crash is sent by the next process", async () => {
  const { hooks, disable } = await open();
  expect(await disable()).toBe(true);
  await hooks.stop();
  const { mails, settle } = await startSender();
  await settle();
  expect(mails).toMatchObject([
    { to: ["anna@example.com"], text: expect.stringContaining("Too many attempts in a row failed") },
  ]);
});

test("a notification that a crashed process was sending is sent by another after the lease", async () => {
  const { hooks, disable } = await open();
  await disable();
  expect(await claimNotifications(hooks.db, "mail", { limit: 5, leaseMs: 15 * minute })).toHaveLength(1);
  const { mails, settle, advance } = await startSender();
  await advance(14 * minute);
  await settle();
  expect(mails).toHaveLength(0);
  await advance(2 * minute);
  await settle();
  expect(mails).toHaveLength(1);
});

test("two processes send a notification once, also with a send function that returns no promise", async () => {
  const { disable } = await open();
  const both = [await startSender(() => undefined), await startSender(() => undefined)];
  await disable();
  await Promise.all(both.map((instance) => instance.settle()));
  await both[0]?.advance(day);
  await Promise.all(both.map((instance) => instance.settle()));
  expect(both.flatMap(({ mails }) => mails)).toHaveLength(1);
});

test("a rolled-back disabling sends no notification", async () => {
  const { hooks, endpointId, uuid } = await open();
  const announce = createAnnounce({ operatorTenant: null, sendMail: neverSend, alertWebhookUrl: null });
  const failing = createEndpoints({
    db: hooks.db,
    keyRing: parseKeyRing(world.encryptionKeys),
    addressPolicy: parseAddressPolicy({ allowHttp: true }),
    defaults: {} as never,
    nowMs: () => Date.now(),
    subscriptions: subscriptionKind,
    typeProblems: async () => () => null,
    hiding: async () => () => false,
    announce: async (tx, disabled) => {
      await announce(tx, disabled);
      throw new Error("the connection broke");
    },
  });
  await expect(failing.disableAfter(uuid, "gone")).rejects.toThrow("the connection broke");

  const { mails, settle } = await startSender();
  await settle();
  expect(mails).toHaveLength(0);
  const shown = await hooks.endpoints.get("acme", endpointId);
  expect(shown).toMatchObject({ isActive: true, disabledReason: null });
  expect(await world.countRows("notifications", "outbox", "events")).toEqual([0, 0, 0]);
});

test("without channels no notification is written", async () => {
  const { uuid } = await open();
  expect(await disableAfter(await world.open({ started: false }), uuid)).toBe(true);
  expect(await world.countRows("notifications", "outbox")).toEqual([0, 1]);
});

test("an endpoint that was enabled or deleted meanwhile causes no notification", async () => {
  const { hooks, endpointId, disable, enable } = await open();
  await disable();
  await enable();
  const { mails, settle, advance } = await startSender();
  await settle();
  expect(mails).toHaveLength(0);

  // only the second disabling is notified
  await disable();
  await settle();
  expect(mails).toHaveLength(1);
  await enable();
  await advance(1_000);
  await disable();
  await hooks.endpoints.delete("acme", endpointId);
  await settle();
  expect(mails).toHaveLength(1);
});

test("an endpoint that is disabled repeatedly causes one notification an hour, about the last time", async () => {
  const { disable, enable } = await open();
  const { hooks, mails, settle, advance } = await startSender();
  const disableAgain = async (): Promise<void> => {
    await enable();
    await disable();
    await settle();
  };
  await disable();
  await settle();
  expect(mails).toHaveLength(1);
  const sentAtMs = hooks.clock.nowMs();
  for (let n = 0; n < 20; n += 1) {
    await advance(1_000);
    await disableAgain();
  }
  // however long that took
  await advance(sentAtMs + 59 * minute - hooks.clock.nowMs());
  await settle();
  expect(mails).toHaveLength(1);
  expect(await world.countRows("notifications")).toEqual([2]);
  await advance(minute);
  await settle();
  expect(mails).toHaveLength(2);
  await disableAgain();
  expect(mails).toHaveLength(2);
  await enable();
  await advance(day);
  await settle();
  expect(mails).toHaveLength(2);
  await disable();
  await settle();
  expect(mails).toHaveLength(3);
});

test("after a failed notification, the next disabling is notified at once", async () => {
  const { disable, enable } = await open();
  let isDown = true;
  const { mails, settle, advance } = await startSender(async () => {
    if (isDown) throw new Error("no mail today");
  });
  await disable();
  await settle();
  isDown = false;
  await enable();
  await advance(1_000);
  await disable();
  await settle();
  expect(mails).toHaveLength(2);
});

test("a notification is tried eight times over two days, then discarded with an error", async () => {
  const { disable } = await open();
  const { mails, lines, settle, advance } = await startSender(() =>
    Promise.reject(new Error("mailbox\0 full\r\n")),
  );
  await disable();
  await settle();
  for (const gap of [1, 5, 15, 60, 360, 720, 1_440]) {
    const before = mails.length;
    const [row] = await notifications("extract(epoch from next_at - posthorn.now())::float8 * 1000 as ms");
    const { ms: dueInMs } = row as { ms: number };
    expect([gap, dueInMs <= gap * minute * 1.1, dueInMs > gap * minute * 0.9 - minute / 2]).toEqual([
      gap,
      true,
      true,
    ]);
    // half a minute before: the clock also runs by itself
    await advance(dueInMs - minute / 2);
    await settle();
    expect([gap, mails.length]).toEqual([gap, before]);
    await advance(minute / 2);
    await settle();
    expect([gap, mails.length]).toEqual([gap, before + 1]);
  }
  expect(mails).toHaveLength(8);
  expect(lines.filter((line) => line.startsWith("error"))).toEqual(["error notification discarded"]);
  await advance(5 * day);
  await settle();
  expect(mails).toHaveLength(8);
  expect(await notifications("attempts, next_at, last_error")).toEqual([
    { attempts: 8, next_at: null, last_error: "mailbox full" },
  ]);
});

test("a mail that never completes does not prevent stopping", async () => {
  const { uuid } = await open();
  const { opened: isSending, open: begin } = gate();
  const sender = await startSender(() => {
    begin();
    return new Promise(() => {});
  });
  await disableAfter(sender, uuid);
  await isSending;
  await sender.hooks.stop({ graceMs: 50 });
  expect(await notifications("attempts, next_at is null as done, last_error")).toEqual([
    { attempts: 1, done: false, last_error: "this process is stopping" },
  ]);
});

test("a mail that never completes times out, and the next one is sent", async () => {
  const { hooks } = await open();
  await hooks.members.put("acme", "bert", { role: "admin", email: "bert@example.com" });
  const channel = createMailChannel({
    db: hooks.db,
    logger: silentLogger,
    sendMail: ({ to: [address] }) =>
      address === "anna@example.com" ? new Promise(() => {}) : Promise.resolve(),
    links: { publicUrl: null, customerPortalUrl: null, operatorTenant: null },
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
  const { hooks, disable } = await open();
  await hooks.members.put("acme", "anna", { role: "owner", email: null });
  await hooks.members.put("acme", "bert", { role: "member", email: "bert@example.com" });
  const { mails, lines, settle } = await startSender();
  await disable();
  await settle();
  expect(mails).toHaveLength(0);
  expect(lines).toEqual(["warn no recipients: the tenant has no owner or admin with an e-mail address"]);
});

test("at most fifty addresses get a mail, each address one", async () => {
  const { hooks, disable } = await open();
  for (let i = 0; i < 60; i += 1) {
    const email = `user-${String(i % 55).padStart(2, "0")}@example.com`;
    await hooks.members.put("acme", `user-${i}`, { role: "admin", email });
  }
  const { mails, settle } = await startSender();
  await disable();
  await settle();
  expect(mails).toHaveLength(50);
  expect(new Set(mails.map(({ to }) => to[0])).size).toBe(50);
});

test("notifications are deleted after a month, in bounded steps", async () => {
  const { hooks, uuid, advance, disable } = await open();
  await disable();
  await world.pool.query(
    "insert into posthorn.notifications (kind, channel, endpoint_id, since, next_at) select 'disabled', 'mail', $1, now(), null from generate_series(1, 4)",
    [uuid],
  );
  await advance(30 * day - minute);
  expect(await pruneNotifications(hooks.db, 30, 3)).toBe(0);
  await advance(2 * minute);
  expect(await pruneNotifications(hooks.db, 30, 3)).toBe(3);
  const long = { retentionDays: 3_650, deadRetentionDays: null, idempotencyDays: 3_650, auditDays: 3_650 };
  await prune({ db: hooks.db, logger: silentLogger, mayContinue: () => true, ...long });
  expect(await world.countRows("notifications")).toEqual([0]);
});

test("an operator tenant that does not exist is an error at the start", async () => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void lines.push(message) };
  const { hooks } = await world.open({ operatorTenant: "operators", logger });
  expect(lines).toEqual([expect.stringContaining("the operator tenant does not exist")]);
  await hooks.tenants.upsert("operators");
  await world.open({ operatorTenant: "operators", logger });
  expect(lines).toHaveLength(1);
});
