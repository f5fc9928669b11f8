// Connections share the buffer that requests are written from.
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { AttemptHandler } from "./attempt-handler.ts";
import { Connection } from "./connection.ts";
import type { GuardedConnector } from "./guard/guarded-connector.ts";
import type { OriginPool } from "./origin-pools.ts";

test("a request that the socket has not sent yet is not overwritten by the next one", () => {
  const first = send("first", "later");
  const second = send("second", "immediately");
  expect(String(second)).toBe("POST / second");
  const third = send("third", "immediately");
  expect([first, third].map(String)).toEqual(["POST / first", "POST / third"]);
  expect([first.buffer === third.buffer, second.buffer === third.buffer]).toEqual([false, true]);
});

/** Returns the bytes passed to the socket, which are not copied. */
function send(body: string, completes: "immediately" | "later"): Buffer {
  let bytes: Buffer = Buffer.alloc(0);
  const socket = new Writable({
    write(chunk: Buffer, _encoding, written) {
      bytes = chunk;
      if (completes === "immediately") written();
    },
  });
  const connector = {
    connect(listener: Connection) {
      listener.onSocket(socket as unknown as Socket);
      listener.onReady();
    },
  } as unknown as GuardedConnector;
  const request = { head: "POST / ", body: Buffer.from(body), timeoutMs: 60_000 };
  const pool = { release() {} } as unknown as OriginPool;
  const attempt = new AttemptHandler(pool, request, null, () => {});
  onTestFinished(() => attempt.abort());
  new Connection({ onFree() {}, onClosed() {} }, connector, attempt).open();
  return bytes;
}
