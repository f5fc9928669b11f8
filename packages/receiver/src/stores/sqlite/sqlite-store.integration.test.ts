// The SQLite store, held to what every store must do, on each library that is there; and what only it promises.
import { type SqliteConnection, sqliteStore } from "@posthorn/receiver/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isQuick } from "../../../../../tests/support/matrix.ts";
import {
  hasNodeSqlite,
  openConnection,
  openSqliteWorld,
  type SqliteLibrary,
  type SqliteWorld,
} from "../../../../../tests/support/receiver/sqlite-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";
import {
  claimed,
  messageWith,
  ordered,
  terms,
  times,
} from "../../../../../tests/support/receiver/store-world.ts";

const libraries: SqliteLibrary[] = hasNodeSqlite ? ["libsql", "node:sqlite"] : ["libsql"];

describe.each(libraries)("by %s", (library) => {
  storeSuite("SQLite", () => openSqliteWorld(library), { transactions: true, processes: !isQuick });

  describe("what only SQLite promises", () => {
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
    ])("a handler that %s itself is told so, and the connection goes on", async (_, statements) => {
      const message = messageWith();
      const meddling = transactions().run(message, terms, async (tx) => {
        await write("half")(tx);
        for (const statement of statements) tx.exec(statement);
        await write("rest")(tx);
      });
      await expect(meddling).rejects.toThrow("Leave commit and rollback to the receiver");
      expect(await transactions().run(message, terms, write("whole"))).toEqual({ kind: "worked" });
      expect((await world.effects?.read())?.at(-1)).toBe("whole");
    });

    test("a store that was not migrated says what to do", async () => {
      const store = sqliteStore(await openConnection(library, ":memory:"));
      await expect(store.claim(messageWith(), terms)).rejects.toThrow("run store.migrate() first");
    });

    test("a handler may use savepoints of its own", async () => {
      await transactions().run(messageWith(), terms, async (tx) => {
        await write("kept")(tx);
        tx.exec("savepoint mine");
        await write("undone")(tx);
        tx.exec("rollback to mine");
      });
      expect(await world.effects?.read()).toEqual(["kept"]);
    });

    test("a handler cannot undo the whole of itself and be done", async () => {
      const message = messageWith();
      const undone = transactions().run(message, terms, async (tx) => {
        await write("lost")(tx);
        tx.exec("rollback to posthorn_receiver");
      });
      await expect(undone).rejects.toThrow("no such savepoint");
      expect(await transactions().run(message, terms, write("kept"))).toEqual({ kind: "worked" });
      expect(await world.effects?.read()).toEqual(["kept"]);
    });

    test("a handler that waits for the store it runs in is told so, and all others go on", async () => {
      const impatient = sqliteStore(world.connection, { queueWaitMs: 100 });
      const other = messageWith();
      let others: Promise<unknown> = Promise.resolve();
      const waiting = impatient.transactions?.run(messageWith(), terms, async () => {
        others = Promise.allSettled([impatient.claim(other, terms), impatient.accept(other, terms)]);
        await impatient.deadLetters.count();
      });
      await expect(waiting).rejects.toThrow("A handler must not wait for its own store");
      const missed = { status: "rejected", reason: expect.objectContaining({ name: "QueueTimeout" }) };
      expect(await others).toEqual([missed, missed]);
      expect(await impatient.deadLetters.count()).toBe(0);
      await claimed(impatient, other);
    });

    test("a database that was not migrated says what to do", async () => {
      const connection = await openConnection(library, `${world.file}.bare`);
      await expect(sqliteStore(connection).claim(messageWith(), terms)).rejects.toThrow(
        "run store.migrate() first",
      );
      connection.close();
    });

    test("transactions take turns, in the order they were asked for", async () => {
      const steps: string[] = [];
      const slow = (name: string) => async () => {
        steps.push(`${name} begins`);
        await new Promise(setImmediate);
        steps.push(`${name} ends`);
      };
      await Promise.all(["a", "b", "c"].map((name) => transactions().run(messageWith(), terms, slow(name))));
      expect(steps).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
    });

    test("another body of a message that is being worked on is refused at once", async () => {
      const message = messageWith();
      await transactions().run(message, terms, async () => {
        const forged = messageWith({ id: message.id, text: "{}" });
        expect(await transactions().run(forged, terms, write("forged"))).toEqual({ kind: "other_body" });
      });
    });

    test("of fifty at once by two connections one works", async () => {
      const connection = await openConnection(library, world.file);
      const other = sqliteStore(connection, { busyWaitMs: 5_000 }).transactions;
      const message = messageWith();
      const results = await Promise.all(
        times(50, (at) => (at % 2 ? transactions() : other)?.run(message, terms, write("paid"))),
      );
      expect(results.filter((result) => result?.kind === "worked")).toHaveLength(1);
      expect(await world.effects?.read()).toEqual(["paid"]);
      connection.close();
    });

    test("while another process has the lock the event loop runs on, and then the message counts as running", async () => {
      world.outside.exec("begin immediate");
      let ticks = 0;
      const ticking = setInterval(() => {
        ticks += 1;
      }, 1);
      const message = messageWith();
      expect(await transactions().run(message, terms, write("paid"))).toMatchObject({ kind: "running" });
      expect(await world.store.claim(message, terms)).toMatchObject({ kind: "running" });
      await expect(world.store.accept(message, terms)).rejects.toThrow("raise busyWaitMs");
      clearInterval(ticking);
      expect(ticks).toBeGreaterThan(10);
      world.outside.exec("rollback");
      expect(await transactions().run(message, terms, write("paid"))).toEqual({ kind: "worked" });
    });

    test("a commit that a reader holds up is tried again, without WAL", async () => {
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
      expect(await store.transactions?.run(messageWith(), terms, write("paid"))).toEqual({ kind: "worked" });
      expect(commits).toBe(2);
      expect(reader.prepare("select effect from effects").all()).toEqual([{ effect: "paid" }]);
      for (const connection of [writer, reader]) connection.close();
    });

    test("a connection that somebody else uses is named as the cause", async () => {
      world.connection.exec("begin");
      await expect(world.store.claim(messageWith(), terms)).rejects.toThrow(
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

    test("tables of a later version are refused", async () => {
      world.outside.exec("update posthorn_receiver_version set version = 99");
      await expect(world.store.migrate()).rejects.toThrow("version 99");
    });

    test("a body of a megabyte comes back whole, and is not kept of what is done", async () => {
      const body = Uint8Array.from(times(1_048_576, (at) => at * 31 + (at >> 8)));
      const message = messageWith({ body });
      await world.store.accept(message, terms);
      const [claim] = await world.store.claimDue(1, terms);
      if (claim === undefined) throw new Error("nothing taken");
      expect(Buffer.compare(claim.message.body, body)).toBe(0);
      await world.store.complete(claim);
      const rows = world.outside.prepare("select body, headers from posthorn_receiver_messages").all();
      expect(rows).toEqual([{ body: null, headers: null }]);
    });

    test("a sequence that begins at 0 is handled from there, delivered or from the inbox", async () => {
      const { store } = world;
      const numbered = (subject: string, sequence: number) => messageWith({ subject, sequence });
      for (const sequence of [0, 1]) {
        await store.complete(await claimed(store, numbered("delivered", sequence), ordered));
        await store.accept(numbered("kept", sequence), terms);
        const [taken] = await store.claimDue(9, ordered);
        if (taken === undefined) throw new Error("nothing taken");
        expect(taken.message).toMatchObject({ subject: "kept", sequence });
        await store.complete(taken);
        expect(await store.claim(numbered("delivered", 0), ordered)).toEqual({ kind: "stale" });
      }
    });

    test("more messages of one subject than a page are passed over to reach another's", async () => {
      for (const sequence of times(150, (at) => at + 1)) {
        await world.store.accept(messageWith({ subject: "busy", sequence }), terms);
      }
      await world.makeOlder(1_000);
      await world.store.accept(messageWith({ subject: "free", sequence: 1 }), terms);
      const taken = await world.store.claimDue(2, ordered);
      expect(taken.map(({ message }) => `${message.subject} ${message.sequence}`)).toEqual([
        "busy 1",
        "free 1",
      ]);
    });
  });
});
