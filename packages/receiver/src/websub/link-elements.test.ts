import { expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/support/cpu-time.ts";
import { readLinkElements } from "./link-elements.ts";
import { MAX_HUBS, readLinkHeader } from "./link-header.ts";

const BASE = "https://blog.example/posts/";
const HUB = "https://hub.example/";

test.each<[what: string, header: string, hubs: string[], self: string | null]>([
  [
    "a comma within a URL and within quotes",
    `<${HUB}?a,b>; title="x, <y>; rel=self"; rel=hub`,
    [`${HUB}?a,b`],
    null,
  ],
  ["several relations in one, in any case", `<${HUB}>; REL="alternate HUB"`, [HUB], null],
  ["the first rel of a link", `<${HUB}>; rel=hub; rel=self`, [HUB], null],
  ["a relative URL", '</feed>; rel="self"', [], "https://blog.example/feed"],
  [
    "two hubs, and one of them twice",
    `<${HUB}1>;rel=hub,<${HUB}2>;rel=hub,<${HUB}1>;rel=hub`,
    [`${HUB}1`, `${HUB}2`],
    null,
  ],
  ["what is not http", "<ftp://hub.example/>; rel=hub, <javascript:1>; rel=self", [], null],
  ["a fragment, which is not part of a topic", "<#top>; rel=self", [], BASE],
  ["an escaped quote", `<${HUB}>; title="\\", rel=self"; rel=hub`, [HUB], null],
  ["a link that does not end", `<${HUB}; rel=hub`, [], null],
  ["nothing", "", [], null],
])("of a Link header: %s", (_, header, hubs, self) => {
  expect(readLinkHeader(header, BASE)).toEqual({ hubs, self });
});

test("no more than ten hubs are kept", () => {
  const header = Array.from({ length: 11 }, (_, at) => `<${HUB}${at}>; rel=hub`).join(", ");
  expect(readLinkHeader(header, BASE).hubs).toHaveLength(MAX_HUBS);
});

const link = `<link rel="hub" href="${HUB}">`;

test.each<[what: string, text: string]>([
  ["in the head", `<html><head>${link}</head>`],
  ["without quotes, in capitals, over lines", `<HEAD><LINK\n HREF=${HUB}\n REL=hub>`],
  ["with a > in an attribute", `<head><link title="a > b" rel='hub' href='${HUB}'/>`],
  ["with an entity", '<link rel="hub" href="https://hub&#46;example&#x2F;">'],
  [
    "behind a comment, a script, a title and an instruction",
    `<?xml a?><!-- x --><script>"<body>"</script><title><body></title>${link}`,
  ],
  ["behind CDATA", `<feed><subtitle><![CDATA[<entry>]]></subtitle>${link}`],
  ["under a prefix", `<rss><channel><atom:link rel="hub" href="${HUB}"/><item>`],
  ["behind a quote that opens nothing", `<don't>${link}`],
])("a hub is found %s", (_, text) => {
  expect(readLinkElements(text, BASE).hubs).toEqual([HUB]);
});

test.each<[what: string, text: string]>([
  ["in the body", `<head></head><body>${link}`],
  ["behind a head that has ended", `<head></head>${link}`],
  ["in an entry", `<feed><entry>${link}</entry></feed>`],
  ["in an item under a prefix", `<rss><r:item>${link}`],
  ["in a comment", `<head><!-- ${link} -->`],
  ["in a comment that does not end", `<head><!-- ${link}`],
  ["in CDATA", `<feed><![CDATA[${link}]]></feed>`],
  ["in a script", `<head><script>${link}</script>`],
  ["in a title that does not end", `<head><title>${link}`],
  ["in the value of an attribute", `<head><meta content='${link}'>`],
  ["without a URL", '<link rel="hub">'],
  ["of another relation", `<link rel="hubs" href="${HUB}">`],
])("no hub is found %s", (_, text) => {
  expect(readLinkElements(text, BASE).hubs).toEqual([]);
});

test.each<[what: string, piece: string]>([
  ["tags", "<a "],
  ["quotes", `<a b="`],
  ["comments", "<!--"],
  ["attributes without a value", " a="],
  ["white space", "<link \t\n"],
  ["closings of nothing", "<script></scrip"],
  ["names", "<aaaaaaaa"],
  ["small tags", "<p>"],
  ["parameters", '<x>;a="'],
  ["links that do not end", "<link rel='hub' href='"],
])("half a megabyte of %s is read in linear time", async (_, piece) => {
  const text = piece.repeat(Math.ceil((512 * 1024) / piece.length));
  const ms = await cpuMsOf(() => {
    readLinkElements(text, BASE);
    readLinkElements(`<link ${text}`, BASE);
    readLinkHeader(text.slice(0, 64 * 1024), BASE);
  });
  // linear: 5 to 500 ms; quadratic: minutes
  expect(ms).toBeLessThan(3_000);
});
