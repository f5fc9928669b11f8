import { expect, test } from "vitest";
import { contentEvent } from "./content-event.ts";
import type { ExternalTopic } from "./topics.ts";

const topic: ExternalTopic = {
  kind: "external",
  url: "https://blog.example/feed",
  tenant: "posthorn.websub",
  type: "websub.0",
  format: "data",
  hash: "0",
};

test.each([
  ["application/json", Buffer.from('{"a":1}'), "text", '{"a":1}'],
  ["text/plain", Buffer.from("a\0ü"), "text", "a\0ü"],
  ["text/plain", Buffer.from([0xff]), "base64", "/w=="],
])(
  "content of %s is stored as text and never parsed, whatever its content type",
  (contentType, body, encoding, text) => {
    const { event } = contentEvent(topic, { contentType, body }, { revision: 1, nowMs: 0 });
    expect(event.attributes).toEqual({ source: topic.url, datacontenttype: contentType, encoding });
    expect(JSON.parse(Buffer.from(event.payload).toString())).toBe(text);
  },
);
