// SQLite through better-sqlite3 or, as here, libsql, which has the same methods.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { sqliteStore } from "@posthorn/receiver/sqlite";
import Database from "libsql"; // or "better-sqlite3", or DatabaseSync from "node:sqlite"

const db = new Database(process.env.DATABASE_FILE ?? "shop.db"); // used only by the store and its handlers
db.exec("pragma journal_mode = wal");
db.exec("create table if not exists payments (event text primary key, data text)");
const store = sqliteStore(db);
await store.migrate();

const receiver = createReceiver({ sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })], store });
receiver.on("order.paid", (event, { tx }) => {
  tx.prepare("insert into payments values (?, ?)").run(event.id, JSON.stringify(event.data)); // tx is db, in a transaction
});
export const POST = receiver.fetch;
