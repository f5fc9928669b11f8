import { expect, test } from "vitest";
import { revocableTx } from "./revocable-tx.ts";

class Client {
  static readonly kind = "client";
  readonly #sent: string[] = [];

  query(text: string): number {
    return this.#sent.push(text);
  }

  get sent(): readonly string[] {
    return this.#sent;
  }

  set last(text: string) {
    this.#sent[this.#sent.length - 1] = text;
  }
}

const over = /The handler has ended, and so has its transaction/;

test("methods, getters and setters work with private fields, until it ends", () => {
  const client = new Client();
  const { tx, revoke } = revocableTx(client);
  expect(tx.query("select 1")).toBe(1);
  tx.last = "select 2";
  expect(tx.sent).toEqual(["select 2"]);
  revoke();
  expect(() => tx.query("select 3")).toThrow(over);
  expect(() => tx.sent).toThrow(over);
  expect(() => {
    tx.last = "select 3";
  }).toThrow(over);
  expect(client.sent).toEqual(["select 2"]);
});

test("a method that was read before the end throws after it", () => {
  const client = new Client();
  const { tx, revoke } = revocableTx(client);
  const query = tx.query.bind(tx);
  query("select 1");
  revoke();
  expect(() => query("select 2")).toThrow(over);
  expect(client.sent).toEqual(["select 1"]);
});

test("instanceof and constructor are those of the original", () => {
  const { tx } = revocableTx(new Client());
  expect(tx).toBeInstanceOf(Client);
  expect(tx.constructor).toBe(Client);
});

test("a transaction may be a function, and have functions with members", () => {
  const fn = Object.assign(() => "now", { count: () => 7 });
  const knex = Object.assign((table: string) => `from ${table}`, { fn });
  const { tx, revoke } = revocableTx(knex);
  expect([tx("orders"), tx.fn(), tx.fn.count()]).toEqual(["from orders", "now", 7]);
  revoke();
  expect(() => tx("orders")).toThrow(over);
});

test("properties that cannot be replaced are returned unchanged", () => {
  const { tx, revoke } = revocableTx(Object.freeze({ query: () => 1 }));
  expect(tx.query()).toBe(1);
  revoke();
  expect(() => tx.query()).toThrow(over);
});
