// The test environment of the SQLite store: a file that each process opens separately. `libsql` has the methods of better-sqlite3
// and comes from npm with its binary; `node:sqlite` is in Node 22.5 and later.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SqliteConnection, type SqliteStoreOptions, sqliteStore } from "@posthorn/receiver/sqlite";
import Database from "libsql";
import { eventually } from "../eventually.ts";
import type { OpenStore, StoreWorld } from "./store-world.ts";

export type SqliteLibrary = "libsql" | "node:sqlite";

/** Such as both libraries have. */
export interface OpenConnection extends SqliteConnection {
  close(): void;
}

export const hasNodeSqlite = createRequire(import.meta.url)("node:module").isBuiltin("node:sqlite");

export async function openConnection(library: SqliteLibrary, file: string): Promise<OpenConnection> {
  if (library === "libsql") return new Database(file);
  // by a name that the types of Node 20 do not know
  const { DatabaseSync } = await import(library as string);
  return new DatabaseSync(file);
}

export interface SqliteWorld extends StoreWorld<OpenConnection> {
  readonly file: string;
  /** The store's own. */
  readonly connection: OpenConnection;
  /** A second connection, like that of another process. */
  readonly outside: OpenConnection;
}

export async function openSqliteWorld(
  library: SqliteLibrary,
  options: SqliteStoreOptions = {},
): Promise<SqliteWorld> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-sqlite-"));
  const file = join(folder, "shop.db");
  const connection = await openConnection(library, file);
  connection.exec("pragma journal_mode = wal");
  connection.exec("pragma foreign_keys = on");
  connection.exec(`
    create table effects (effect text);
    create table orders (id integer primary key);
    create table payments (order_id integer references orders deferrable initially deferred)`);
  const store = sqliteStore(connection, options);
  await store.migrate();
  const outside = await openConnection(library, file);
  return {
    store,
    file,
    connection,
    outside,
    makeOlder: async (ms) =>
      void (await eventually("the store is between two transactions", () => {
        outside.exec("begin immediate");
        outside
          .prepare("update posthorn_receiver_messages set at = at - ?, first_seen_at = first_seen_at - ?")
          .run(ms, ms);
        outside.prepare("update posthorn_receiver_subjects set last_seen_at = last_seen_at - ?").run(ms);
        outside.exec("commit");
        return true;
      })),
    async rows() {
      const sql = `
        select (select count(*) from posthorn_receiver_messages)
             + (select count(*) from posthorn_receiver_subjects) as count`;
      return (outside.prepare(sql).all() as [{ count: number }])[0].count;
    },
    effects: {
      write: async (tx, effect) => void tx.prepare("insert into effects (effect) values (?)").run(effect),
      read: async () =>
        outside
          .prepare("select effect from effects order by rowid")
          .all()
          .map((row) => (row as { effect: string }).effect),
      breakCommit: async (tx) => void tx.exec("insert into payments (order_id) values (404)"),
    },
    secondProcess: { moduleUrl: import.meta.url, args: [library, file] },
    async close() {
      outside.close();
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** In the other process. */
export const openStore: OpenStore = async ([library, file]) => ({
  store: sqliteStore(await openConnection(library as SqliteLibrary, file as string)),
  writeEffect: async (tx, effect) =>
    void (tx as OpenConnection).prepare("insert into effects (effect) values (?)").run(effect),
});
