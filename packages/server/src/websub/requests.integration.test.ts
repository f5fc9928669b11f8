// What is asked of the hub and how it answers: points 1 to 20 of the recommendation's list in docs/reference/websub.md.
import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { hubUrl } from "../../../../tests/support/websub/hub.ts";
import { type Answer, obedient } from "../../../../tests/support/websub/subscriber.ts";
import { hold, openWorld, refusing, topicOf } from "../../../../tests/support/websub/world.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const world = openWorld({ websub: { verificationsPerHost: 10_000 } });

test("1: accepts a form in UTF-8 with callback, mode and topic", async () => {
  const reply = await world.asked("one", { "hub.callback": `${world.subscriber.url}/one?name=Jörg` });
  expect(reply.status).toBe(202);
  expect(world.subscriber.asked("/one").map(({ query }) => query.get("name"))).toEqual(["Jörg"]);
  await world.asked("one", {
    "hub.mode": "unsubscribe",
    "hub.callback": `${world.subscriber.url}/one?name=Jörg`,
  });
  expect(world.subscriber.asked("/one").map(({ query }) => query.get("hub.mode"))).toEqual([
    "subscribe",
    "unsubscribe",
  ]);
});

test("1: a body that is not a form is rejected with 415, a too large one with 413", async () => {
  const response = await fetch(`${world.url}/websub`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([415, "text/plain; charset=utf-8"]);
  expect((await world.post(`hub.mode=subscribe&x=${"x".repeat(64 * 1024 - 21)}`)).status).toBe(400);
  expect((await world.post(`hub.mode=subscribe&x=${"x".repeat(64 * 1024 - 20)}`)).status).toBe(413);
});

test("17: whatever is refused below /websub is refused in plain text", async () => {
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

test("2: stores the secret encrypted, and signs with it", async () => {
  await world.asked("two", { "hub.secret": "a secret of mine" });
  await world.publish("two");
  expect(world.news("two")[0]?.headers["x-hub-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
  const rows = await world.query<{ text: string }>(
    "select encode(ciphertext, 'hex') as text from posthorn.endpoint_secrets",
  );
  expect(rows.length).toBeGreaterThan(0);
  const plain = Buffer.from("a secret of mine").toString("hex");
  expect(rows.filter(({ text }) => text.includes(plain))).toEqual([]);
});

test("3: rejects a secret of 200 bytes, and accepts one of 199", async () => {
  const tooLong = await world.asked("three", { "hub.secret": "é".repeat(100) });
  expect([tooLong.status, tooLong.text]).toEqual([400, expect.stringContaining("less than 200 bytes")]);
  expect(world.subscriber.asked("/three")).toEqual([]);
  expect((await world.asked("three", { "hub.secret": `${"é".repeat(99)}x` })).status).toBe(202);
  await world.publish("three");
  expect(world.news("three")[0]?.headers).toHaveProperty("x-hub-signature");
});

test.each([
  ["as asked for", "3600", 3_600],
  ["ten days unless asked for", null, 864_000],
  ["fifteen days as asked for", "1296000", 1_296_000],
  ["fifteen days at most", "1296001", 1_296_000],
  ["no longer, however much is asked for", "99999999999999999999", 1_296_000],
  ["five minutes as asked for", "300", 300],
  ["five minutes at least", "299", 300],
])("4: the lease is %s", async (_what, asked, given) => {
  const name = `four_${asked}`;
  await world.asked(name, asked === null ? {} : { "hub.lease_seconds": asked });
  expect(world.subscriber.asked(`/${name}`)[0]?.query.get("hub.lease_seconds")).toBe(String(given));
  const [found] = (await world.subscriptions()).filter(({ topic }) => topic === topicOf(name));
  expect(Math.abs((found?.leaseSeconds ?? 0) - given)).toBeLessThan(30);
});

test.each(["0", "-5", "+5", " 5", "1.5", "ten", "1e9"])(
  "4: a lease of %s seconds is refused",
  async (seconds) => {
    expect((await world.ask("four", { "hub.lease_seconds": seconds })).status).toBe(400);
  },
);

test("5: ignores the lease of an unsubscription", async () => {
  await world.asked("five");
  const reply = await world.asked("five", { "hub.mode": "unsubscribe", "hub.lease_seconds": "nonsense" });
  expect(reply.status).toBe(202);
  const [, end] = world.subscriber.asked("/five");
  expect(end?.query.has("hub.lease_seconds")).toBe(false);
  await world.publish("five");
  expect(world.news("five")).toEqual([]);
});

test("6: ignores parameters it does not know", async () => {
  expect((await world.asked("six", { foo: "bar", "hub.foo": "bar" })).status).toBe(202);
  await world.publish("six");
  expect(world.news("six")).toHaveLength(1);
});

test("6: a token of PubSubHubbub 0.3 is told again, where there is one and for that request alone", async () => {
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

test("7: after a renewal the next event is delivered once", async () => {
  await world.asked("seven");
  expect((await world.asked("seven", { "hub.lease_seconds": "7200" })).status).toBe(202);
  await world.publish("seven");
  expect(world.news("seven")).toHaveLength(1);
  const found = (await world.subscriptions()).filter(({ topic }) => topic === topicOf("seven"));
  expect(found).toHaveLength(1);
  expect(found[0]?.leaseSeconds).toBeGreaterThan(7_000);
});

test("8: a request takes effect only after its verification", async () => {
  await world.asked("eight", { "hub.secret": "first" });
  const held = hold({ status: 404 });
  world.subscriber.behave("/eight", ({ method }) => (method === "POST" ? { status: 204 } : held.answer));
  onTestFinished(held.release);
  await world.ask("eight", { "hub.secret": "second" });
  await world.subscriber.until("the verification", () => world.subscriber.asked("/eight").length === 2);
  await world.hooks.publish({ tenant: "acme", type: "eight", data: 1 });
  await world.subscriber.until("the event", () => world.subscriber.notified("/eight").length === 1);
  expect(signedWith("first", world.news("eight")[0])).toBe(true);
});

test("8: a request that was replaced during its verification is ignored", async () => {
  await world.asked("replaced", { "hub.secret": "first" });
  const held = hold({ status: 200 });
  let isHeld = true;
  world.subscriber.behave("/replaced", (seen) => {
    if (seen.method === "POST") return { status: 204 };
    const answer = obedient(seen) as Answer;
    if (!isHeld) return { status: 404 };
    isHeld = false;
    return held.answer.then(() => answer);
  });
  onTestFinished(held.release);
  await world.ask("replaced", { "hub.secret": "second" });
  await world.subscriber.until("its verification", () => world.subscriber.asked("/replaced").length === 2);
  await world.ask("replaced", { "hub.secret": "third" });
  await world.subscriber.until("the next one", () => world.subscriber.asked("/replaced").length === 3);
  held.release();
  await world.settle();
  await world.publish("replaced");
  expect(signedWith("first", world.news("replaced")[0])).toBe(true);
});

test.each([
  ["404", refusing(404)],
  ["500", refusing(500)],
  ["another body", refusing(200, "not the challenge")],
])(
  "9: a verification that fails with %s leaves state, secret and lease as they were",
  async (what, failing) => {
    const name = `nine_${what.replaceAll(" ", "_")}`;
    await world.asked(name, { "hub.secret": "first", "hub.lease_seconds": "3600" });
    const before = (await world.subscriptions()).find(({ topic }) => topic === topicOf(name));
    world.subscriber.behave(`/${name}`, (seen) => (seen.method === "GET" ? failing() : { status: 204 }));
    await world.asked(name, { "hub.secret": "second", "hub.lease_seconds": "7200" });
    await world.asked(name, { "hub.mode": "unsubscribe" });
    expect(world.subscriber.asked(`/${name}`)).toHaveLength(3);
    await world.publish(name);
    const news = world.news(name);
    expect(news).toHaveLength(1);
    expect(signedWith("first", news[0])).toBe(true);
    const after = (await world.subscriptions()).find(({ topic }) => topic === topicOf(name));
    expect(after?.leaseSeconds).toBeLessThanOrEqual(before?.leaseSeconds ?? 0);
  },
);

test("10: a renewal changes the secret, or drops it", async () => {
  await world.asked("ten", { "hub.secret": "first" });
  await world.asked("ten", { "hub.secret": "second" });
  await world.publish("ten");
  expect(signedWith("second", world.news("ten")[0])).toBe(true);
  await world.asked("ten");
  await world.publish("ten");
  expect(world.news("ten")[0]?.headers).not.toHaveProperty("x-hub-signature");
});

test("11: a subscription is known by topic and callback together", async () => {
  await world.asked("eleven");
  await world.asked("eleven", { "hub.callback": `${world.subscriber.url}/eleven?other` });
  await world.asked("eleven", { "hub.topic": topicOf("eleven_b") });
  await world.publish("eleven");
  expect(
    world
      .news("eleven")
      .map(({ url }) => url)
      .toSorted(),
  ).toEqual(["/eleven", "/eleven?other"]);
  await world.asked("eleven", { "hub.mode": "unsubscribe" });
  await world.publish("eleven");
  await world.publish("eleven_b");
  expect(
    world
      .news("eleven")
      .map(({ url }) => url)
      .toSorted(),
  ).toEqual(["/eleven", "/eleven?other"]);
});

test("12: percent-encoded unreserved characters mean what they stand for", async () => {
  await world.asked("twelve", { "hub.callback": `${world.subscriber.url}/%74welve?a=%7E%2f` });
  await world.asked("twelve", {
    "hub.topic": topicOf("twelve").replace("twelve", "%74%77elve"),
    "hub.callback": `${world.subscriber.url}/twelve?a=~%2F`,
  });
  const found = (await world.subscriptions()).filter(({ topic }) => topic === topicOf("twelve"));
  expect(found).toHaveLength(1);
  await world.asked("twelve", {
    "hub.mode": "unsubscribe",
    "hub.callback": `${world.subscriber.url}/tw%65lve?a=~%2F`,
  });
  expect((await world.subscriptions()).filter(({ topic }) => topic === topicOf("twelve"))).toEqual([]);
});

test("13: subscribers get the canonical topic URL", async () => {
  await world.asked("thirteen", { "hub.topic": topicOf("thirteen").replace("/acme/", "/%61cme/") });
  await world.publish("thirteen");
  expect(world.news("thirteen")[0]?.headers.link).toContain(`<${topicOf("thirteen")}>; rel="self"`);
});

test.each([
  ["?foo=a%20b&x", "?foo=a%20b&x&"],
  ["?hub.mode=mine&hub.topic=mine", "?hub.mode=mine&hub.topic=mine&"],
  ["?", "?"],
  ["?a=1&", "?a=1&"],
  ["", "?"],
  ["?q=%C3%A4+b;c[]=1", "?q=%C3%A4+b;c[]=1&"],
])("14: the callback's own query %j stays, and parameters are put behind it", async (query, before) => {
  await world.asked("fourteen", { "hub.callback": `${world.subscriber.url}/fourteen${query}` });
  const seen = world.subscriber.asked("/fourteen").at(-1);
  expect(seen?.url.startsWith(`/fourteen${before}hub.mode=subscribe&hub.topic=`)).toBe(true);
  await world.publish("fourteen");
  const sent = world.news("fourteen").map(({ url }) => url);
  expect(sent).toContain(`/fourteen${query === "?" ? "" : query}`);
});

test("15: an accepted request returns 202", async () => {
  expect((await world.ask("fifteen")).status).toBe(202);
  expect((await world.ask("fifteen", { "hub.mode": "unsubscribe" })).status).toBe(202);
});

test.each([
  ["no mode", { "hub.mode": "" }, "hub.mode"],
  ["an unknown mode", { "hub.mode": "denied" }, "hub.mode"],
  ["no topic", { "hub.topic": "" }, "hub.topic"],
  ["a topic that is no URL", { "hub.topic": "order.paid" }, "hub.topic"],
  ["a topic of another scheme", { "hub.topic": "ftp://example.com/feed" }, "hub.topic"],
  ["no callback", { "hub.callback": "" }, "hub.callback"],
  ["a callback that is no URL", { "hub.callback": "/callback" }, "hub.callback"],
  ["a callback at a private address", { "hub.callback": "http://10.0.0.1/" }, "hub.callback"],
  ["a callback at a metadata address", { "hub.callback": "http://169.254.169.254/latest" }, "hub.callback"],
  ["a callback with a password", { "hub.callback": "https://user:pass@example.com/" }, "hub.callback"],
  ["URLs too long to verify", { "hub.callback": `http://127.0.0.1:9999/${"c".repeat(1_950)}` }, "too long"],
])("16, 17: %s is refused with 400 and a sentence in plain text", async (_what, fields, named) => {
  const reply = await world.ask("sixteen", fields);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
  expect(reply.text).toContain(named);
});

test("16: callback and topic are limited to 2,048 bytes, including the verification parameters", async () => {
  const base = `${world.subscriber.url}/long?`;
  // what is asked of the callback, with the longest mode, lease and reason
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

test("18: the answer does not wait for the callback and is the same whatever comes of it", async () => {
  const held = hold({ status: 404 });
  world.subscriber.behave("/eighteen", () => held.answer);
  onTestFinished(held.release);
  const replies = [
    await world.ask("eighteen"),
    await world.ask("eighteen", { "hub.topic": "https://elsewhere.example.com/feed" }),
    await world.ask("eighteen", { "hub.topic": topicOf("eighteen").replace("acme", "nobody") }),
    await world.ask("eighteen", { "hub.mode": "unsubscribe" }),
    await world.ask("eighteen", { "hub.callback": "http://127.0.0.1:1025/nobody-there" }),
  ];
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(replies[0]?.status).toBe(202);
});

test("19: the callback is verified at once", async () => {
  await world.ask("nineteen");
  await world.subscriber.until(
    "the verification",
    () => world.subscriber.asked("/nineteen").length > 0,
    5_000,
  );
});

test("20: the hub serves its topics itself, without redirects", async () => {
  const reply = await world.asked("twenty", { "hub.topic": "https://elsewhere.example.com/feed" });
  expect([reply.status, reply.headers.get("location")]).toEqual([202, null]);
  expect((await world.get("/websub")).text).toContain(hubUrl);
});

function signedWith(
  secret: string,
  seen: { headers: Record<string, unknown>; body: Buffer } | undefined,
): boolean {
  const [method = "", hex] = String(seen?.headers["x-hub-signature"]).split("=");
  return (
    createHmac(method, secret)
      .update(seen?.body ?? "")
      .digest("hex") === hex
  );
}
