// Requests to the hub and its responses: points 1 to 20 of the recommendation's list in docs/reference/websub.md.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { gate } from "../../../../tests/support/gate.ts";
import {
  type CallbackResponse,
  hubUrl,
  obedient,
  openWorld,
  topicOf,
} from "../../../../tests/support/servers/websub.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const world = openWorld({ websub: { verificationsPerHost: 10_000 } });

test("1, 15: accepts a form in UTF-8 with callback, mode and topic", async () => {
  const reply = await world.asked("one", { "hub.callback": `${world.subscriber.url}/one?name=Jörg` });
  expect(reply.status).toBe(202);
  expect(world.subscriber.asked("/one").map(({ query }) => query.get("name"))).toEqual(["Jörg"]);
  await world.asked("one", {
    "hub.mode": "unsubscribe",
    "hub.callback": `${world.subscriber.url}/one?name=Jörg`,
  });
  expect(world.modes("one")).toEqual(["subscribe", "unsubscribe"]);
});

test("1: a body that is not a form is rejected with 415, one that is too large with 413", async () => {
  const response = await fetch(`${world.url}/websub`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([415, "text/plain; charset=utf-8"]);
  expect((await world.post(`hub.mode=subscribe&x=${"x".repeat(64 * 1024 - 21)}`)).status).toBe(400);
  expect((await world.post(`hub.mode=subscribe&x=${"x".repeat(64 * 1024 - 20)}`)).status).toBe(413);
});

test("17: every error below /websub is in plain text", async () => {
  const refusals = [
    await world.send("PUT", "/websub"),
    await world.send("GET", "/websub/nothing?here"),
    await world.send("GET", "/websub/topics/acme/%ff"),
    await world.send("POST", "/websub/content?topic=x"),
    await world.send("POST", "/websub", { "content-encoding": "gzip", ...FORM }),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([405, 404, 400, 401, 415]);
  expect(new Set(refusals.map(({ headers }) => headers.get("content-type")))).toEqual(
    new Set(["text/plain; charset=utf-8"]),
  );
  expect(refusals[0]?.headers.get("allow")).toContain("POST");
});

test("3: rejects a secret of 200 bytes, and accepts one of 199", async () => {
  const tooLong = await world.asked("three", { "hub.secret": "é".repeat(100) });
  expect([tooLong.status, tooLong.text]).toEqual([400, expect.stringContaining("less than 200 bytes")]);
  expect(world.subscriber.asked("/three")).toEqual([]);
  expect((await world.asked("three", { "hub.secret": `${"é".repeat(99)}x` })).status).toBe(202);
  expect((await world.published("three"))[0]?.headers).toHaveProperty("x-hub-signature");
});

test.each([
  ["300", 300],
  ["299", 300],
  ["3600", 3_600],
  ["1296001", 1_296_000],
  ["99999999999999999999", 1_296_000],
  [null, 864_000],
])("4, 33: the lease for a request of %s seconds is %i", async (requested, given) => {
  const name = `four_${requested}`;
  await world.asked(name, requested === null ? {} : { "hub.lease_seconds": requested });
  expect(world.subscriber.asked(`/${name}`)[0]?.query.get("hub.lease_seconds")).toBe(String(given));
  const [found] = await world.subscriptionsTo(name);
  expect(Math.abs((found?.leaseSeconds ?? 0) - given)).toBeLessThan(30);
});

test.each<[what: string, leases: (string | null)[], requests: Record<string, string>[]]>([
  ["6: ignores unknown parameters", ["864000"], [{ foo: "bar", "hub.foo": "bar" }]],
  [
    "7, 22: verifies a renewal, and then delivers an event once",
    ["864000", "7200"],
    [{}, { "hub.lease_seconds": "7200" }],
  ],
  [
    "5: ignores the lease of an unsubscription",
    ["864000", null],
    [{}, { "hub.mode": "unsubscribe", "hub.lease_seconds": "nonsense" }],
  ],
])("%s", async (what, leases, requests) => {
  const name = what.replace(/\W+/g, "_").toLowerCase();
  for (const fields of requests) expect((await world.asked(name, fields)).status).toBe(202);
  const verified = world.subscriber.asked(`/${name}`).map(({ query }) => query.get("hub.lease_seconds"));
  expect(verified).toEqual(leases);
  const notifications = leases.at(-1) === null ? 0 : 1;
  expect(await world.published(name)).toHaveLength(notifications);
  expect(await world.subscriptionsTo(name)).toHaveLength(notifications);
});

test("6: a token of PubSubHubbub 0.3 is repeated for its own request", async () => {
  const tokens = () =>
    world.subscriber
      .asked("/token")
      .map(({ url }) => new URL(url, hubUrl).searchParams.get("hub.verify_token"));
  await world.asked("token", { "hub.verify_token": "subscribe é&=", "hub.verify": "async" });
  await world.asked("token");
  await world.asked("token", { "hub.mode": "unsubscribe", "hub.verify_token": "unsubscribe" });
  expect(tokens()).toEqual(["subscribe é&=", null, "unsubscribe"]);
  const { status, text } = await world.ask("token", { "hub.verify_token": "t".repeat(2_000) });
  expect([status, text]).toEqual([400, expect.stringContaining("too long")]);
  expect((await world.ask("token", { "hub.verify_token": "\0" })).status).toBe(400);
});

test("8, 19: a request is verified at once, and takes effect only after its verification", async () => {
  await world.asked("eight", { "hub.secret": "first" });
  const held = gate({ status: 404 });
  world.subscriber.behave("/eight", ({ method }) => (method === "POST" ? { status: 204 } : held.opened));
  await world.ask("eight", { "hub.secret": "second" });
  await world.subscriber.until("the verification", () => world.subscriber.asked("/eight").length === 2);
  await world.hooks.publish({ tenant: "acme", type: "eight", data: 1 });
  await world.subscriber.until("the event", () => world.subscriber.notified("/eight").length === 1);
  expect(signedWith("first", world.news("eight")[0])).toBe(true);
});

test("8: a request that was replaced during its verification is ignored", async () => {
  await world.asked("replaced", { "hub.secret": "first" });
  const held = gate({ status: 200 });
  let isHeld = true;
  world.subscriber.behave("/replaced", (seen) => {
    if (seen.method === "POST") return { status: 204 };
    const answer = obedient(seen) as CallbackResponse;
    if (!isHeld) return { status: 404 };
    isHeld = false;
    return held.opened.then(() => answer);
  });
  await world.ask("replaced", { "hub.secret": "second" });
  await world.subscriber.until("its verification", () => world.subscriber.asked("/replaced").length === 2);
  await world.ask("replaced", { "hub.secret": "third" });
  await world.subscriber.until("the next one", () => world.subscriber.asked("/replaced").length === 3);
  held.open();
  await world.settle();
  expect(signedWith("first", (await world.published("replaced"))[0])).toBe(true);
});

test("9, 34: a failed verification leaves state, secret and lease as they were", async () => {
  await world.asked("nine", { "hub.secret": "first", "hub.lease_seconds": "3600" });
  const lease = async () =>
    (await world.subscriptions()).find(({ topic }) => topic === topicOf("nine"))?.leaseSeconds ?? 0;
  const before = await lease();
  world.subscriber.behave("/nine", ({ method }) => ({ status: method === "GET" ? 404 : 204 }));
  await world.asked("nine", { "hub.secret": "second", "hub.lease_seconds": "7200" });
  await world.asked("nine", { "hub.mode": "unsubscribe" });
  expect(world.subscriber.asked("/nine")).toHaveLength(3);
  const news = await world.published("nine");
  expect(news).toHaveLength(1);
  expect(signedWith("first", news[0])).toBe(true);
  expect(await lease()).toBeLessThanOrEqual(before);
});

test("2, 10: a secret is stored encrypted, and a renewal replaces or removes it", async () => {
  await world.asked("ten", { "hub.secret": "first" });
  await world.asked("ten", { "hub.secret": "second" });
  const rows = await world.query<{ text: string }>(
    "select encode(ciphertext, 'hex') as text from posthorn.endpoint_secrets",
  );
  expect(rows).not.toEqual([]);
  expect(JSON.stringify(rows)).not.toContain(Buffer.from("second").toString("hex"));
  expect(signedWith("second", (await world.published("ten"))[0])).toBe(true);
  await world.asked("ten");
  expect((await world.published("ten"))[0]?.headers).not.toHaveProperty("x-hub-signature");
});

test("11: a subscription is identified by topic and callback", async () => {
  await world.asked("eleven");
  await world.asked("eleven", { "hub.callback": `${world.subscriber.url}/eleven?other` });
  await world.asked("eleven", { "hub.topic": topicOf("eleven_b") });
  const callbacks = () => world.news("eleven").map(({ url }) => url);
  await world.publish("eleven");
  expect(callbacks().toSorted()).toEqual(["/eleven", "/eleven?other"]);
  await world.asked("eleven", { "hub.mode": "unsubscribe" });
  await world.publish("eleven");
  await world.publish("eleven_b");
  expect(callbacks().toSorted()).toEqual(["/eleven", "/eleven?other"]);
});

test("12, 13: percent-encoded unreserved characters are decoded to compare URLs, and sent in canonical form", async () => {
  await world.asked("twelve", { "hub.callback": `${world.subscriber.url}/%74welve?a=%7E%2f` });
  await world.asked("twelve", {
    "hub.topic": topicOf("twelve").replace("twelve", "%74%77elve"),
    "hub.callback": `${world.subscriber.url}/twelve?a=~%2F`,
  });
  const notified = await world.published("twelve");
  expect(notified.map(({ headers }) => headers.link)).toEqual([
    expect.stringContaining(`<${topicOf("twelve")}>; rel="self"`),
  ]);
  await world.asked("twelve", {
    "hub.mode": "unsubscribe",
    "hub.callback": `${world.subscriber.url}/tw%65lve?a=~%2F`,
  });
  expect(await world.subscriptionsTo("twelve")).toEqual([]);
});

test.each([
  ["?hub.mode=mine&hub.topic=mine", "?hub.mode=mine&hub.topic=mine&"],
  ["?", "?"],
  ["?a=1&", "?a=1&"],
  ["?q=%C3%A4+b;c[]=1", "?q=%C3%A4+b;c[]=1&"],
])(
  "14, 36: the callback's own query %j stays before the parameters, and is that of notifications",
  async (query, before) => {
    await world.asked("fourteen", { "hub.callback": `${world.subscriber.url}/fourteen${query}` });
    const seen = world.subscriber.asked("/fourteen").at(-1);
    expect(seen?.url.startsWith(`/fourteen${before}hub.mode=subscribe&hub.topic=`)).toBe(true);
    const sent = (await world.published("fourteen")).map(({ url }) => url);
    expect(sent).toContain(`/fourteen${query === "?" ? "" : query}`);
  },
);

test.each<[what: string, fields: Record<string, string>, reason: string]>([
  ["no mode", { "hub.mode": "" }, "hub.mode"],
  ["an unknown mode", { "hub.mode": "denied" }, "hub.mode"],
  ["no topic", { "hub.topic": "" }, "hub.topic"],
  ["a topic that is not a URL", { "hub.topic": "order.paid" }, "hub.topic"],
  ["a topic of another scheme", { "hub.topic": "ftp://example.com/feed" }, "hub.topic"],
  ["no callback", { "hub.callback": "" }, "hub.callback"],
  ["a callback that is not a URL", { "hub.callback": "/callback" }, "hub.callback"],
  ["a callback at a private address", { "hub.callback": "http://10.0.0.1/" }, "hub.callback"],
  ["a callback at a metadata address", { "hub.callback": "http://169.254.169.254/latest" }, "hub.callback"],
  ["a callback with a password", { "hub.callback": "https://user:pass@example.com/" }, "hub.callback"],
  ["URLs too long to verify", { "hub.callback": `http://127.0.0.1:9999/${"c".repeat(1_950)}` }, "too long"],
  ...["0", "-5", "+5", " 5", "1.5", "ten", "1e9"].map((seconds): [string, Record<string, string>, string] => [
    `a lease of ${seconds}`,
    { "hub.lease_seconds": seconds },
    "hub.lease_seconds",
  ]),
])("16, 17: %s is refused with 400 and a reason in plain text", async (_what, fields, reason) => {
  const reply = await world.ask("sixteen", fields);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
  expect(reply.text).toContain(reason);
});

test("16: callback and topic are limited to 2,048 bytes, including the verification parameters", async () => {
  const base = `${world.subscriber.url}/long?`;
  // the parameters of a verification, with the longest mode, lease and reason
  const added =
    `&hub.mode=unsubscribe&hub.topic=${encodeURIComponent(topicOf("long"))}&hub.challenge=${"c".repeat(43)}` +
    `&hub.lease_seconds=99999999&hub.reason=${"r".repeat(100)}`;
  const callbackOf = (length: number) => base + "c".repeat(length - base.length - added.length);
  const asked = async (length: number) =>
    (await world.ask("long", { "hub.callback": callbackOf(length) })).status;
  expect([await asked(2_048), await asked(2_049)]).toEqual([202, 400]);
});

test("16: a duplicate parameter is rejected", async () => {
  const form = new URLSearchParams({ "hub.mode": "subscribe", "hub.topic": topicOf("sixteen") });
  form.append("hub.callback", `${world.subscriber.url}/a`);
  form.append("hub.callback", `${world.subscriber.url}/b`);
  expect((await world.post(form.toString())).status).toBe(400);
});

test("18, 20: the response does not depend on the verification or its result, and never redirects", async () => {
  const held = gate({ status: 404 });
  world.subscriber.behave("/eighteen", () => held.opened);
  const replies = [
    await world.ask("eighteen"),
    await world.ask("eighteen", { "hub.topic": "https://elsewhere.example.com/feed" }),
    await world.ask("eighteen", { "hub.topic": topicOf("eighteen").replace("acme", "nobody") }),
    await world.ask("eighteen", { "hub.mode": "unsubscribe" }),
    await world.ask("eighteen", { "hub.callback": "http://127.0.0.1:1025/nobody-there" }),
  ];
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect([replies[0]?.status, replies[0]?.headers.get("location")]).toEqual([202, null]);
  expect((await world.get("/websub")).text).toContain(hubUrl);
});

test("a callback that does not respond delays no other", async () => {
  const held = gate({ status: 404 });
  world.subscriber.behave("/slow", () => held.opened);
  for (let count = 0; count < 20; count += 1)
    await world.ask("slow", { "hub.callback": `${world.subscriber.url}/slow?${count}` });
  await world.ask("quick");
  await world.subscriber.until("the quick one", () => world.subscriber.asked("/quick").length === 1, 5_000);
});

function signedWith(
  secret: string,
  seen: { headers: Record<string, unknown>; body: Buffer } | undefined,
): boolean {
  const [method = "", hex] = String(seen?.headers["x-hub-signature"]).split("=");
  const expected = createHmac(method, secret).update(seen?.body ?? "");
  return expected.digest("hex") === hex;
}
