import { type SqliteConnection, sqliteStore } from "@posthorn/receiver/sqlite";
import { expect, test } from "vitest";
import { isBusy } from "./connection.ts";

test.each<[who: string, error: object]>([
  ["better-sqlite3", { code: "SQLITE_BUSY", message: "database is locked" }],
  ["better-sqlite3, of a snapshot", { code: "SQLITE_BUSY_SNAPSHOT", message: "database is locked" }],
  ["node:sqlite", { code: "ERR_SQLITE_ERROR", errcode: 5, message: "database is locked" }],
  ["node:sqlite, of a recovery", { code: "ERR_SQLITE_ERROR", errcode: 261, message: "database is locked" }],
])("a lock of another process is recognised by the error of %s", (_, error) => {
  expect(isBusy(error)).toBe(true);
});

test.each<[what: string, error: unknown]>([
  ["a broken constraint", { code: "SQLITE_CONSTRAINT", message: "UNIQUE constraint failed" }],
  ["one of node:sqlite", { code: "ERR_SQLITE_ERROR", errcode: 19, message: "UNIQUE constraint failed" }],
  [
    "a statement left open",
    { code: "SQLITE_BUSY", message: "cannot commit transaction - SQL statements in progress" },
  ],
  ["a text", "SQLITE_BUSY"],
  ["nothing", undefined],
])("%s is not a lock of another process", (_, error) => {
  expect(isBusy(error)).toBe(false);
});

test("an invalid connection or option is rejected with what to do", () => {
  for (const db of [null, {}, { exec: () => {} }]) {
    expect(() => sqliteStore(db as unknown as SqliteConnection)).toThrow(
      "new Database(file) from better-sqlite3",
    );
  }
  const db = { exec: () => {}, prepare: () => ({ run: () => ({ changes: 0 }), all: () => [] }) };
  expect(() => sqliteStore(db, { busyWait: 1 } as object)).toThrow("Did you mean busyWaitMs?");
});
