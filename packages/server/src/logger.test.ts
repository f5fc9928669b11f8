import { expect, test } from "vitest";
import { createLogger, type LoggerOptions } from "./logger.ts";

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const now = (): Date => new Date("2026-11-15T10:00:00Z");
  const logger = createLogger({
    level: "info",
    format: "json",
    now,
    write: (line) => lines.push(line),
    ...options,
  });
  return { logger, lines };
}

test("a message is one JSON line with time, level, the fields of every line and its own", () => {
  const { logger, lines } = capture({ fields: { process: 2 } });
  logger.info("hello", { a: 1 });
  expect(lines).toEqual([
    '{"time":"2026-11-15T10:00:00.000Z","level":"info","message":"hello","process":2,"a":1}\n',
  ]);
});

test("levels below the configured one are not logged", () => {
  const { logger, lines } = capture({ level: "warn" });
  logger.debug("a");
  logger.info("b");
  logger.warn("c");
  logger.error("d");
  expect(lines).toHaveLength(2);
});

test("secrets, payloads and keys are never logged", () => {
  const { logger, lines } = capture();
  logger.error("whsec_abc+/= and phk_aB-_9", {
    secret: "planted",
    data: { card: "planted" },
    nested: { payload: "planted", admin_key: "planted", headers: { authorization: "planted" } },
    smtpUrl: "planted",
    alert_webhook_url: "planted",
    error: new Error(
      "postgres://user:planted@host/db refused phk_planted and pht_planted, smtps://user:planted@host too",
    ),
  });
  expect(lines.join()).not.toMatch(/planted|abc\+|aB-_9/);
});

test("an error keeps its code and its cause", () => {
  const { logger, lines } = capture();
  logger.error("x", {
    error: Object.assign(new Error("outer", { cause: new Error("inner") }), { code: "E1" }),
  });
  expect(JSON.parse(lines.join())).toMatchObject({ error: { code: "E1", cause: { message: "inner" } } });
});

test("the pretty format is one line without control characters", () => {
  const { logger, lines } = capture({ format: "pretty" });
  logger.info("a\u001b[2Jb\nc", { path: "/x", none: undefined });
  expect(lines).toEqual(['10:00:00.000 info  a\\u001b[2Jb\\nc path="/x"\n']);
});
