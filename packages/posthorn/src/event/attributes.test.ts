import { expect, test } from "vitest";
import { type PublishInput, validate } from "./validate.ts";

const problemsOf = (attributes: unknown, data: unknown = null) => {
  try {
    validate({ tenant: "acme", type: "a", data, attributes } as PublishInput, 0);
  } catch (error) {
    return (error as { problems: { pointer: string }[] }).problems.map(({ pointer }) => pointer);
  }
  return "valid";
};

test("attributes of a CloudEvent are stored unchanged", () => {
  const attributes = {
    id: "1",
    source: "/shop",
    type: "com.Shop-Order",
    time: "2026-01-02T03:04:05.678901+01:00",
    datacontenttype: "application/vnd.shop+json",
    dataschema: "https://shop.example/order.json",
    extensions: { flag: true, count: -1, text: "é" },
  };
  const { event } = validate({ tenant: "acme", type: "a", data: 1, attributes }, 0);
  expect(event.attributes).toEqual(attributes);
});

test.each<[what: string, attributes: unknown, data: unknown, pointers: unknown]>([
  ["a list", [], null, ["/attributes"]],
  ["an unknown name", { sorce: "/a" }, null, ["/attributes/sorce"]],
  ["an empty id", { id: "" }, null, ["/attributes/id"]],
  ["a source with a space", { source: "/a b" }, null, ["/attributes/source"]],
  ["a day that never was", { time: "2026-02-30T00:00:00Z" }, null, ["/attributes/time"]],
  ["a fraction as extension", { extensions: { n: 1.5 } }, null, ["/attributes/extensions/n"]],
  ["the subject as extension", { extensions: { subject: "x" } }, null, ["/attributes/extensions/subject"]],
  ["XML that claims to be JSON", { datacontenttype: "text/xml" }, "<a/>", ["/attributes/encoding"]],
  ["an object as text", { encoding: "text" }, {}, ["/attributes/encoding"]],
  ["what is no base64", { encoding: "base64" }, "a", ["/attributes/encoding"]],
  [
    "text of another charset",
    { datacontenttype: "text/plain; charset=utf-16", encoding: "text" },
    "a",
    ["/attributes/encoding"],
  ],
  ["data where there is none", { encoding: "none" }, 1, ["/attributes/encoding"]],
  ["text as text", { datacontenttype: "text/xml", encoding: "text" }, "<a/>", "valid"],
  ["bytes as base64", { datacontenttype: "image/png", encoding: "base64" }, "AP8K", "valid"],
  ["no data", { encoding: "none" }, null, "valid"],
  ["nothing at all", {}, 1, "valid"],
])("%s", (_, attributes, data, pointers) => {
  expect(problemsOf(attributes, data)).toEqual(pointers);
});

test("attributes have at most 8 KiB together", () => {
  const filled = (length: number) => ({ extensions: { x: "v".repeat(length) } });
  const most = 8 * 1024 - JSON.stringify(filled(0)).length;
  expect(problemsOf(filled(most))).toBe("valid");
  expect(problemsOf(filled(most + 1))).toEqual(["/attributes"]);
});

test("attributes have at most 8 KiB as headers, where a character may take nine bytes", () => {
  const filled = (length: number) => ({ extensions: { x: "€".repeat(length) } });
  const most = Math.floor((8 * 1024 - "ce-x".length) / "%E2%82%AC".length);
  expect(problemsOf(filled(most))).toBe("valid");
  expect(problemsOf(filled(most + 1))).toEqual(["/attributes"]);
});
