// Own topics as Atom feeds, read by an independent parser.
import { parseAtomFeed } from "feedsmith";
import { expect, test } from "vitest";
import { hubUrl, openWorld, topicOf, topicUrl } from "../../../../tests/support/servers/websub.ts";

const world = openWorld({ catalogue: "open", websub: { verificationsPerHost: 10_000 } });
const feedOf = (name: string): string => `${topicOf(name)}?format=atom`;
const show = (name: string) => world.get(`/websub/topics/acme/${name}?format=atom`);
const textsOf = (feed: string) =>
  parseAtomFeed(feed).entries?.map(({ content }) => JSON.parse(content?.value ?? "")) ?? [];

test("a feed links to its hub and itself, in the header and in its text, also before its first event", async () => {
  const empty = await show("fresh");
  expect(empty.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
  expect(empty.headers.get("link")).toBe(`<${hubUrl}>; rel="hub", <${feedOf("fresh")}>; rel="self"`);
  const feed = parseAtomFeed(empty.text);
  expect(feed).toMatchObject({ id: feedOf("fresh"), title: { value: "fresh of acme" } });
  expect(feed.links?.map(({ rel, href }) => [rel, href])).toEqual([
    ["self", feedOf("fresh")],
    ["hub", hubUrl],
  ]);
  expect(Number.isNaN(Date.parse(feed.updated ?? ""))).toBe(false);
  expect(feed.entries ?? []).toEqual([]);
});

test("a feed has the newest fifty events, newest first, each with its envelope", async () => {
  for (let n = 1; n <= 51; n += 1) {
    await world.hooks.publish({ tenant: "acme", type: "counted", subject: `s${n}`, data: { n } });
  }
  const { text, headers } = await show("counted");
  const { entries = [], updated } = parseAtomFeed(text);
  expect(textsOf(text).map(({ data }) => data.n)).toEqual(
    Array.from({ length: 50 }, (_, index) => 51 - index),
  );
  const [newest] = textsOf(text);
  expect(entries[0]).toMatchObject({
    id: `urn:uuid:${uuidOf(newest.id)}`,
    title: { value: "counted s51" },
    updated: newest.created_at,
  });
  expect(updated).toBe(newest.created_at);
  const etag = headers.get("etag") ?? "";
  const again = await world.get("/websub/topics/acme/counted?format=atom", { "if-none-match": etag });
  expect(again.status).toBe(304);
});

test("a feed has at most a megabyte of events, and always the newest one", async () => {
  const quarter = "x".repeat(256 * 1024 - 2);
  for (let n = 0; n < 5; n += 1) await world.hooks.publish({ tenant: "acme", type: "large", data: quarter });
  expect(textsOf((await show("large")).text)).toHaveLength(4);
});

test("the feed is well-formed and preserves any data of an event", async () => {
  const data = {
    markup: "<b>&amp;</b> ]]> \"'",
    controls: "\u0001\r\n\t\u007f\ufffe\uffff",
    text: "Grüße 😀",
  };
  await world.hooks.publish({ tenant: "acme", type: "hostile", subject: "<s> & \uffff", data });
  const { text } = await show("hostile");
  expect(textsOf(text)[0].data).toEqual(data);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold these
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/);
  expect(parseAtomFeed(text).entries?.[0]?.title?.value).toBe("hostile <s> & \ufffd");
});

test("redacted data is masked in topics, in feeds and in notifications", async () => {
  await world.hooks.eventTypes.put("by_card", { redact: ["/card"] });
  await world.asked("by_card");
  await world.asked("by_card_feed", { "hub.topic": feedOf("by_card") });
  await world.publish("by_card", { card: "4111", total: 1 });
  const shown = await world.get("/websub/topics/acme/by_card");
  expect(JSON.parse(shown.text).data).toEqual({ card: "[redacted]", total: 1 });
  expect(world.news("by_card").map(({ body }) => body.toString())).toEqual([shown.text]);
  expect(textsOf((await show("by_card")).text)).toEqual([JSON.parse(shown.text)]);
  expect(world.news("by_card_feed").map(({ body }) => textsOf(body.toString()))).toEqual([
    [JSON.parse(shown.text)],
  ]);
  const { data } = await world.hooks.deliveries.list({ tenant: "acme", type: "by_card" });
  const sent = await world.hooks.deliveries.request(data.at(-1)?.id as string);
  // as sent
  expect([shown.text, world.subscriber.notified("/by_card_feed")[0]?.body.toString()]).toContain(
    String(sent.body),
  );
  expect(sent.redactedParts).toEqual([]);
});

test("data that is redacted later is masked in topics and feeds that were read before", async () => {
  await world.publish("card_seen", { card: "a card number" });
  const paths = ["/websub/topics/acme/card_seen", "/websub/topics/acme/card_seen?format=atom"];
  const before = [];
  for (const path of paths) before.push(await world.get(path));
  expect(before.map(({ text }) => text.includes("a card number"))).toEqual([true, true]);
  await world.hooks.eventTypes.put("card_seen", { redact: ["/card"] });
  for (const [index, path] of paths.entries()) {
    const etag = before[index]?.headers.get("etag") as string;
    const after = await world.get(path, { "if-none-match": etag });
    expect([after.status, after.text.includes("a card number")]).toEqual([200, false]);
  }
});

test("subscribers of a feed get the new entry as a signed feed, those of the topic the envelope", async () => {
  await world.asked("plain", { "hub.topic": topicOf("followed") });
  await world.asked("reader", { "hub.topic": feedOf("followed"), "hub.secret": "s" });
  await world.publish("followed", { n: 1 });
  await world.publish("followed", { n: 2 });
  const news = world.news("reader");
  expect(news.map(({ body }) => textsOf(body.toString()).map((event) => event.data.n))).toEqual([[1], [2]]);
  const [first] = news;
  expect(first?.headers).toMatchObject({
    "content-type": "application/atom+xml; charset=utf-8",
    link: `<${hubUrl}>; rel="hub", <${feedOf("followed")}>; rel="self"`,
    "x-hub-signature": expect.stringMatching(/^sha256=/),
  });
  expect(world.news("plain").map(({ headers }) => headers["content-type"])).toEqual([
    "application/json",
    "application/json",
  ]);
});

test("closing a type ends its feed, and an unknown format is refused", async () => {
  await world.hooks.tenants.upsert("brief", { websubTopics: ["news"] });
  await world.asked("brief", { "hub.topic": `${topicUrl("brief", "news")}?format=atom` });
  await world.hooks.tenants.upsert("brief", { websubTopics: [] });
  await world.settle();
  expect(world.modes("brief").at(-1)).toBe("denied");
  expect((await world.get("/websub/topics/brief/news?format=atom")).status).toBe(404);

  const wrong = await world.get("/websub/topics/acme/x?format=rss");
  expect([wrong.status, wrong.text]).toEqual([422, "The format of a topic is envelope or atom.\n"]);
  await world.asked("rss", { "hub.topic": `${topicOf("x")}?format=rss` });
  expect(world.modes("rss")).toEqual(["denied"]);
});

function uuidOf(eventId: string): string {
  return eventId.slice(4);
}
