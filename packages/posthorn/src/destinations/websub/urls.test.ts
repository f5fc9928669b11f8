import { describe, expect, test } from "vitest";
import { topicOf } from "./topics.ts";
import { comparable, discoveryLink, domainOf, pairOf, withParameters } from "./urls.ts";

describe("URLs are compared", () => {
  test.each([
    ["http://example.com/%7Eann", "http://example.com/~ann"],
    ["HTTP://EXAMPLE.com:80/a", "http://example.com/a"],
    ["http://example.com", "http://example.com/"],
    ["http://example.com/a?b=%2d%2E%5f", "http://example.com/a?b=-._"],
    ["http://example.com/%c3%a9", "http://example.com/%C3%A9"],
    ["http://example.com/a#part", "http://example.com/a"],
  ])("%s is %s", (one, other) => {
    expect(comparable(one)).toBe(comparable(other));
  });

  test.each([
    ["http://example.com/a", "https://example.com/a"],
    ["http://example.com/a", "http://example.com/A"],
    ["http://example.com/a%2Fb", "http://example.com/a/b"],
    ["http://example.com/a?b=%26c", "http://example.com/a?b=&c"],
    ["http://example.com/a?b", "http://example.com/a?b="],
  ])("%s is not %s", (one, other) => {
    expect(comparable(one)).not.toBe(comparable(other));
  });

  test("pairs with the same concatenation differ", () => {
    expect(pairOf("http://a.example/", "http://b.example/")).not.toEqual(
      pairOf("http://b.example/", "http://a.example/"),
    );
  });
});

test.each([
  ["http://a.example/cb", "http://a.example/cb?x=1%262"],
  ["http://a.example/cb?foo=a%20b&x", "http://a.example/cb?foo=a%20b&x&x=1%262"],
  ["http://a.example/cb?", "http://a.example/cb?x=1%262"],
])("parameters are appended to %s", (callback, expected) => {
  expect(withParameters(callback, { x: "1&2" })).toBe(expected);
});

test("a topic's URL in a Link header ends neither the reference nor the header", () => {
  expect(discoveryLink("https://hub.example/websub", 'https://a.example/x>; rel="hub"\r\nX: y,é')).toBe(
    '<https://hub.example/websub>; rel="hub", <https://a.example/x%3E;%20rel=%22hub%22%0D%0AX:%20y,%C3%A9>; rel="self"',
  );
});

describe("a topic is", () => {
  const hub = {
    topicsUrl: "https://hub.example/websub/topics/",
    externalTopics: ["https://blog.example/feeds/"],
  };

  test.each([
    [
      "https://hub.example/websub/topics/acme/order.paid",
      { kind: "own", tenant: "acme", type: "order.paid" },
    ],
    ["https://hub.example/websub/topics/a%3Ab/order.paid", { kind: "own", tenant: "a:b" }],
    ["https://blog.example/feeds/all.xml", { kind: "external", tenant: "posthorn.websub", format: "data" }],
  ])("%s: external, and served", (url, expected) => {
    expect(topicOf(url, hub)).toMatchObject(expected);
  });

  test.each([
    "https://hub.example/websub/topics/acme",
    "https://hub.example/websub/topics/acme/order.paid/x",
    "https://hub.example/websub/topics/acme/Order.Paid",
    "https://hub.example/websub/topics/ac%2Fme/order.paid",
    "https://blog.example/feedsearch",
    "https://blog.example.evil.example/feeds/",
    "http://blog.example/feeds/all.xml",
  ])("%s: not served", (url) => {
    expect(topicOf(url, hub)).toBeNull();
  });
});

test.each([
  ["example.com", "example.com"],
  ["a.b.example.com", "example.com"],
  ["a.example.com.", "example.com"],
  ["localhost", "localhost"],
  ["192.0.2.7", "192.0.2.7"],
  ["[2001:db8::1]", "[2001:db8::1]"],
])("%s belongs to %s", (host, domain) => {
  expect(domainOf(host)).toBe(domain);
});
