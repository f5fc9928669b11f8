// How another process opens the store in PostgreSQL; its argument is the connection string.
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";
import type { OpenStore } from "./store-world.ts";

export const openStore: OpenStore = async ([connectionString]) => {
  const pool = new pg.Pool({ max: 4, connectionString });
  pool.on("error", () => {});
  return {
    store: postgresStore(pool),
    writeEffect: async (tx, effect) => {
      await (tx as pg.PoolClient).query("insert into effects (effect) values ($1)", [effect]);
    },
  };
};
