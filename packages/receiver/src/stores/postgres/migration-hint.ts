// Adds advice to the errors that a missing schema causes.
import { type PostgresDatabase, type Query, sqlState } from "./database.ts";

/** Missing schema, function or table. */
const missing = new Set(["3F000", "42883", "42P01"]);

/** For the store's own statements, which refer only to its schema. */
export function withMigrationHint<Tx>(db: PostgresDatabase<Tx>, schema: string): PostgresDatabase<Tx> {
  const hinting =
    (query: Query): Query =>
    (text, values) =>
      query(text, values).catch((error) => {
        if (!missing.has(sqlState(error) ?? "")) throw error;
        throw new Error(
          `The schema "${schema}" of the receiver's store is missing or outdated: run store.migrate() first.`,
          { cause: error },
        );
      });
  return {
    query: hinting(db.query),
    transaction: (work) => db.transaction((tx, query) => work(tx, hinting(query))),
  };
}
