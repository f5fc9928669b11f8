import { expect, test } from "vitest";
import { parseMessages } from "./event-stream.ts";

test("complete messages are returned, and an incomplete one is kept", () => {
  const { messages, rest } = parseMessages('id: 7\nevent: changes\ndata: {"a":1}\n\nid: 8\nda');
  expect(messages).toEqual([{ id: "7", event: "changes", data: '{"a":1}' }]);
  expect(rest).toBe("id: 8\nda");
});

test("comments and messages without data are ignored", () => {
  expect(parseMessages(": still here\n\nretry: 2000\n\n")).toEqual({ messages: [], rest: "" });
});
