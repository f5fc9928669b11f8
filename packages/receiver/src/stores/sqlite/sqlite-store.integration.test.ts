// The SQLite store with each available library: the suite of all stores, and its own guarantees.
import type { Store } from "@posthorn/receiver";
import { type SqliteConnection, sqliteStore } from "@posthorn/receiver/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import { isQuick } from "../../../../../tests/support/matrix.ts";
import {
  hasNodeSqlite,
  openConnection,
  openSqliteWorld,
  type SqliteLibrary,
  type SqliteWorld,
} from "../../../../../tests/support/receiver/sqlite-world.ts";
import {
  claimed,
  defaults,
  messageWith,
  ordered,
  times,
} from "../../../../../tests/support/receiver/store-world.ts";

const libraries: SqliteLibrary[] = hasNodeSqlite ? ["libsql", "node:sqlite"] : ["libsql"];

describe.each(libraries)("by %s", (library) => {
  storeSuite("SQLite", () => openSqliteWorld(library), { transactions: true, processes: !isQuick });

  describe("SQLite only", () => {
    let world: SqliteWorld;
    beforeEach(async () => {
      world = await openSqliteWorld(library, { busyWaitMs: 40 });
    });
    afterEach(() => world.close());
    const transactions = () => {
      if (world.store.transactions === null) throw new Error("no transactions");
      return world.store.transactions;
    };
    const write = (effect: string) => (tx: SqliteConnection) =>
      Promise.resolve(void tx.prepare("insert into effects (effect) values (?)").run(effect));

    test.each([
      ["commits", ["commit"]],
      ["rolls back", ["rollback"]],
      ["commits and begins anew", ["commit", "begin"]],
    ])(
      "the error for a handler that %s itself says so, and the connection still works",
      async (_, statements) => {
        const message = messageWith();
        const meddling = transactions().run(message, defaults, async (tx) => {
          await write("half")(tx);
          for (const statement of statements) tx.exec(statement);
          await write("rest")(tx);
        });
        await expect(meddling).rejects.toThrow("Leave commit and rollback to the receiver");
        expect(await transactions().run(message, defaults, write("whole"))).toEqual({ kind: "worked" });
        expect((await world.effects?.read())?.at(-1)).toBe("whole");
      },
    );

    test("a store that was not migrated names store.migrate() in its errors", async () => {
      const store = sqliteStore(await openConnection(library, ":memory:"));
      await expect(store.claim(messageWith(), defaults)).rejects.toThrow("run store.migrate() first");
    });

    test("a handler may use its own savepoints", async () => {
      await transactions().run(messageWith(), defaults, async (tx) => {
        await write("kept")(tx);
        tx.exec("savepoint mine");
        await write("undone")(tx);
        tx.exec("rollback to mine");
      });
      expect(await world.effects?.read()).toEqual(["kept"]);
    });

    test("a handler cannot roll back to the store's savepoint", async () => {
      const message = messageWith();
      const undone = transactions().run(message, defaults, async (tx) => {
        await write("lost")(tx);
        tx.exec("rollback to posthorn_receiver");
      });
      await expect(undone).rejects.toThrow("no such savepoint");
      expect(await transactions().run(message, defaults, write("kept"))).toEqual({ kind: "worked" });
      expect(await world.effects?.read()).toEqual(["kept"]);
    });

    test("the error for a handler that waits for its own store says so, and other calls fail in time", async () => {
      const impatient = sqliteStore(world.connection, { queueWaitMs: 100 });
      const other = messageWith();
      let others: Promise<unknown> = Promise.resolve();
      const waiting = impatient.transactions?.run(messageWith(), defaults, async () => {
        others = Promise.allSettled([impatient.claim(other, defaults), impatient.accept(other, defaults)]);
        await impatient.deadLetters.count();
      });
      await expect(waiting).rejects.toThrow("A handler must not wait for its own store");
      const missed = { status: "rejected", reason: expect.objectContaining({ name: "QueueTimeout" }) };
      expect(await others).toEqual([missed, missed]);
      expect(await impatient.deadLetters.count()).toBe(0);
      await claimed(impatient, other);
    });

    test("of fifty runs, claims or calls of claimDue at once on two connections one succeeds", async () => {
      const connections = await Promise.all(times(2, () => openConnection(library, world.file)));
      const stores = connections.map((connection) => sqliteStore(connection));
      const fifty = <Result>(act: (store: Store<SqliteConnection>) => Promise<Result>) =>
        Promise.all(times(50, (at) => act(stores[at % 2] as Store<SqliteConnection>)));
      const [run, claim, due] = [messageWith(), messageWith(), messageWith()];
      const runs = await fifty(async (store) => store.transactions?.run(run, defaults, write("paid")));
      expect(runs.filter((result) => result?.kind === "worked")).toHaveLength(1);
      expect(await world.effects?.read()).toEqual(["paid"]);
      const claims = await fifty((store) => store.claim(claim, defaults));
      expect(claims.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
      await world.store.accept(due, defaults);
      const found = await fifty((store) => store.claimDue(5, defaults));
      expect(found.flat().map(({ message }) => message.id)).toEqual([due.id]);
      for (const connection of connections) connection.close();
    });

    test("while another process has the lock the event loop keeps running, and the message counts as running", async () => {
      world.outside.exec("begin immediate");
      const message = messageWith();
      expect(await transactions().run(message, defaults, write("paid"))).toMatchObject({ kind: "running" });
      expect(await world.store.claim(message, defaults)).toMatchObject({ kind: "running" });
      await expect(world.store.accept(message, defaults)).rejects.toThrow("raise busyWaitMs");
      const patient = sqliteStore(world.connection).transactions;
      setTimeout(() => world.outside.exec("rollback"), 1);
      expect(await patient?.run(message, defaults, write("paid"))).toEqual({ kind: "worked" });
    });

    test("a commit that a reader blocks is retried, without WAL", async () => {
      const [writer, reader] = [
        await openConnection(library, `${world.file}.plain`),
        await openConnection(library, `${world.file}.plain`),
      ];
      writer.exec("create table effects (effect text)");
      let commits = 0;
      const watched: SqliteConnection = {
        prepare: (sql) => writer.prepare(sql),
        exec(sql) {
          if (sql === "commit" && ++commits === 2) reader.exec("commit");
          writer.exec(sql);
        },
      };
      const store = sqliteStore(watched);
      await store.migrate();
      commits = 0;
      reader.exec("begin");
      reader.prepare("select * from effects").all();
      expect(await store.transactions?.run(messageWith(), defaults, write("paid"))).toEqual({
        kind: "worked",
      });
      expect(commits).toBe(2);
      expect(reader.prepare("select effect from effects").all()).toEqual([{ effect: "paid" }]);
      for (const connection of [writer, reader]) connection.close();
    });

    test("the error for a connection in another transaction names the cause", async () => {
      world.connection.exec("begin");
      await expect(world.store.claim(messageWith(), defaults)).rejects.toThrow(
        "a separate connection for the store",
      );
      world.connection.exec("rollback");
      await claimed(world.store, messageWith());
    });

    test("two processes may migrate a new database at once", async () => {
      const file = `${world.file}.new`;
      const connections = await Promise.all(times(2, () => openConnection(library, file)));
      const stores = connections.map((connection) => sqliteStore(connection));
      await Promise.all(stores.map((store) => store.migrate()));
      await claimed(stores[0] as (typeof stores)[0], messageWith());
      for (const connection of connections) connection.close();
    });

    test("tables of a later version are rejected", async () => {
      world.outside.exec("update posthorn_receiver_version set version = 99");
      await expect(world.store.migrate()).rejects.toThrow("version 99");
    });

    test("the content of a done message is deleted", async () => {
      await world.store.complete(await claimed(world.store, messageWith()));
      const rows = world.outside.prepare("select body, headers from posthorn_receiver_messages").all();
      expect(rows).toEqual([{ body: null, headers: null }]);
    });

    test("a subject with more messages than a page does not block another subject", async () => {
      for (const sequence of times(150, (at) => at + 1)) {
        await world.store.accept(messageWith({ subject: "busy", sequence }), defaults);
      }
      await world.makeOlder(1_000);
      await world.store.accept(messageWith({ subject: "free", sequence: 1 }), defaults);
      const taken = await world.store.claimDue(2, ordered);
      expect(taken.map(({ message }) => `${message.subject} ${message.sequence}`)).toEqual([
        "busy 1",
        "free 1",
      ]);
    });
  });
});
