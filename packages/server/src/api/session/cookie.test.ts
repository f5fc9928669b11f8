import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { readCookie } from "./cookie.ts";

const read = (cookie: string | undefined) =>
  readCookie({ headers: { cookie } } as IncomingMessage, "posthorn");

test.each<[cookie: string | undefined, value: string | null]>([
  [undefined, null],
  ["", null],
  ["posthorn", null],
  ["posthorn=a", "a"],
  ["theme=dark; posthorn=a=b ;lang=de", "a=b"],
  ["notposthorn=a; posthorn-portal=b; __Host-posthorn=c", null],
  ["Posthorn=a", null],
  // browsers send the cookie of the longer path first
  ["posthorn=near; posthorn=far", "near"],
])("the session cookie in %j is %j", (cookie, value) => {
  expect(read(cookie)).toBe(value);
});
