// Stores an order and its event in one transaction: a function for each library.
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql as drizzleSql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Knex } from "knex";
import { type Kysely, sql as kyselySql } from "kysely";
import type { Model, ModelClass } from "objection";
import type { Pool } from "pg";
import type { Sql } from "postgres";
import type { Posthorn } from "posthorn";
import type { Sequelize } from "sequelize";
import { type DatabasePool, sql as slonikSql } from "slonik";
import type { DataSource } from "typeorm";
import type { PrismaClient } from "./receiver/generated-prisma.ts"; // in your project: the output of `prisma generate`

interface Order {
  id: string;
  total: number;
}

const paid = (order: Order) => ({ tenant: "acme", type: "order.paid", data: order });

export async function withPg(pool: Pool, hooks: Posthorn, order: Order) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("insert into orders values ($1, $2)", [order.id, order.total]);
    await hooks.publish(paid(order), { tx: client });
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

export const withPostgresJs = (sql: Sql, hooks: Posthorn, order: Order) =>
  sql.begin(async (tx) => {
    await tx`insert into orders values (${order.id}, ${order.total})`;
    await hooks.publish(paid(order), { tx });
  });

export const withDrizzle = (
  db: NodePgDatabase | PostgresJsDatabase,
  hooks: Posthorn,
  order: Order,
): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.execute(drizzleSql`insert into orders values (${order.id}, ${order.total})`);
    await hooks.publish(paid(order), { tx });
  });

export const withKysely = (db: Kysely<unknown>, hooks: Posthorn, order: Order) =>
  db.transaction().execute(async (tx) => {
    await kyselySql`insert into orders values (${order.id}, ${order.total})`.execute(tx);
    await hooks.publish(paid(order), { tx });
  });

export const withKnex = (knex: Knex, hooks: Posthorn, order: Order) =>
  knex.transaction(async (tx) => {
    await tx("orders").insert(order);
    await hooks.publish(paid(order), { tx });
  });

export const withObjection = (Orders: ModelClass<Model & Order>, hooks: Posthorn, order: Order) =>
  Orders.transaction(async (tx) => {
    await Orders.query(tx).insert(order);
    await hooks.publish(paid(order), { tx });
  });

export const withPrisma = (prisma: PrismaClient, hooks: Posthorn, order: Order) =>
  prisma.$transaction(async (tx) => {
    await tx.$executeRaw`insert into orders values (${order.id}, ${order.total})`;
    await hooks.publish(paid(order), { tx });
  });

export const withTypeOrm = (dataSource: DataSource, hooks: Posthorn, order: Order) =>
  dataSource.transaction(async (manager) => {
    await manager.query("insert into orders values ($1, $2)", [order.id, order.total]);
    await hooks.publish(paid(order), { tx: manager });
  });

export const withSequelize = (sequelize: Sequelize, hooks: Posthorn, order: Order) =>
  sequelize.transaction(async (transaction) => {
    const bind = [order.id, order.total];
    await sequelize.query("insert into orders values ($1, $2)", { bind, transaction });
    await hooks.publish(paid(order), { tx: transaction });
  });

export const withMikroOrm = (entityManager: EntityManager, hooks: Posthorn, order: Order) =>
  entityManager.transactional(async (em) => {
    await em.execute("insert into orders values (?, ?)", [order.id, order.total]);
    await hooks.publish(paid(order), { tx: em });
  });

export const withSlonik = (pool: DatabasePool, hooks: Posthorn, order: Order) =>
  pool.transaction(async (tx) => {
    await tx.query(slonikSql.unsafe`insert into orders values (${order.id}, ${order.total})`);
    await hooks.publish(paid(order), { tx });
  });

/** A list of statements, for drivers without open transactions. */
export async function withStatements(
  prisma: PrismaClient,
  hooks: Posthorn,
  order: Order,
): Promise<unknown[]> {
  const { text, values } = await hooks.publishStatement(paid(order));
  return await prisma.$transaction([
    prisma.$executeRaw`insert into orders values (${order.id}, ${order.total})`,
    prisma.$queryRawUnsafe(text, ...values),
  ]);
}
