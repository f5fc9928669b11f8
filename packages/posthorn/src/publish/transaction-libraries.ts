// The libraries whose transactions `publish` accepts. Each is recognised by its methods, so that none is a dependency.
// Whether it is a transaction is what the database reports, not the object: see `posthorn.continues_transaction`.
import { PosthornError } from "../errors.ts";

/** Every library passes these to PostgreSQL unchanged. */
export type Value = string | null;

/** A `pg` client after `begin`, TypeORM's `EntityManager` or `QueryRunner`, or any other client with this method. */
export interface ClientTransaction {
  query(text: string, values: Value[]): PromiseLike<unknown>;
}

/** `sql` of `sql.begin(async (sql) => …)`. */
export interface PostgresJsTransaction {
  unsafe(text: string, values: Value[]): PromiseLike<unknown>;
}

/** `tx` of `db.transaction(async (tx) => …)`. */
export interface DrizzleTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Drizzle's class of statements, which is described below
  execute(statement: any): PromiseLike<unknown>;
}

/** `trx` of `db.transaction().execute(async (trx) => …)`. */
export interface KyselyTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's CompiledQuery, which is described below
  executeQuery(statement: any): PromiseLike<unknown>;
  withoutPlugins(): KyselyTransaction;
}

/** `trx` of `knex.transaction(async (trx) => …)`, and of `Model.transaction` in Objection. */
export interface KnexTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Knex lists its own types here
  raw(text: string, values: any): PromiseLike<unknown>;
}

/** `tx` of `prisma.$transaction(async (tx) => …)`. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: Value[]): PromiseLike<unknown>;
}

/** `transaction` of `sequelize.transaction(async (transaction) => …)`. */
export interface SequelizeTransaction {
  afterCommit(hook: () => void): void;
  rollback(): PromiseLike<void>;
}

/** `em` of `em.transactional(async (em) => …)` in MikroORM. */
export interface MikroOrmTransaction {
  getTransactionContext(): unknown;
}

/** `tx` of `pool.transaction(async (tx) => …)`. */
export interface SlonikTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Slonik's class of statements, which is described below
  query(statement: any): PromiseLike<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: only to distinguish it
  anyFirst(statement: any): PromiseLike<unknown>;
}

/** Every transaction that `publish` accepts as `tx`. */
export type Transaction =
  | ClientTransaction
  | PostgresJsTransaction
  | DrizzleTransaction
  | KyselyTransaction
  | KnexTransaction
  | PrismaTransaction
  | SequelizeTransaction
  | MikroOrmTransaction
  | SlonikTransaction;

interface Library<Tx> {
  readonly name: string;
  /** What the application has to pass. */
  readonly pass: string;
  is(tx: object): boolean;
  /** Sends a statement with `$1`, `$2`, …. Resolves to the rows, or to an object with `rows`. */
  query(tx: Tx, text: string, values: Value[]): PromiseLike<unknown>;
}

/** The first that matches. `query` alone is the last resort: other libraries have a method of that name too. */
const libraries = [
  library<DrizzleTransaction>({
    name: "Drizzle",
    pass: "the tx of db.transaction(async (tx) => …)",
    is: (tx) => has(tx, "execute", "transaction", "$with"),
    query: (tx, text, values) =>
      tx.execute({ getSQL: () => ({ toQuery: () => ({ sql: text, params: values }) }) }),
  }),
  library<KyselyTransaction>({
    name: "Kysely",
    pass: "the trx of db.transaction().execute(async (trx) => …)",
    is: (tx) => has(tx, "executeQuery", "withoutPlugins"),
    query: (tx, text, values) => tx.withoutPlugins().executeQuery(compiledQuery(text, values)),
  }),
  library<PrismaTransaction>({
    name: "Prisma",
    pass: "the tx of prisma.$transaction(async (tx) => …)",
    is: (tx) => has(tx, "$queryRawUnsafe"),
    query: (tx, text, values) => tx.$queryRawUnsafe(text, ...values),
  }),
  library<MikroOrmTransaction>({
    name: "MikroORM",
    pass: "the em of em.transactional(async (em) => …)",
    is: (em) => has(em, "getTransactionContext"),
    // a transaction of Knex or Kysely, or undefined; em.execute would write the values into the text
    query: async (em, text, values) => {
      const context = em.getTransactionContext();
      return (await libraryOf(context)?.query(context, text, values)) ?? [];
    },
  }),
  library<SequelizeTransaction>({
    name: "Sequelize",
    pass: "the transaction of sequelize.transaction(async (transaction) => …)",
    is: (tx) => has(tx, "afterCommit", "rollback") || has(tx, "getQueryInterface"),
    // only a transaction refers to its Sequelize
    query: async (tx, text, values) => {
      const result = await sequelizeOf(tx)?.query(text, { bind: values, transaction: tx });
      return result === undefined ? [] : result[0];
    },
  }),
  library<SlonikTransaction>({
    name: "Slonik",
    pass: "the tx of pool.transaction(async (tx) => …)",
    is: (tx) => has(tx, "query", "anyFirst"),
    query: (tx, text, values) => tx.query({ type: Symbol.for("SLONIK_TOKEN_QUERY"), sql: text, values }),
  }),
  library<KnexTransaction>({
    name: "Knex or Objection",
    pass: "the trx of knex.transaction(async (trx) => …) or Model.transaction(async (trx) => …)",
    is: (tx) => has(tx, "raw", "transaction"),
    query: async (tx, text, values) => {
      const { marked, repeated } = withQuestionMarks(text, values);
      const sent = tx.raw(marked, repeated);
      // a model of Objection only builds the statement
      return has(sent, "then") ? await sent : [];
    },
  }),
  library<PostgresJsTransaction>({
    name: "postgres.js",
    pass: "the sql of sql.begin(async (sql) => …)",
    is: (tx) => has(tx, "unsafe"),
    query: (tx, text, values) => tx.unsafe(text, values),
  }),
  library<ClientTransaction>({
    name: "TypeORM",
    pass: "the manager of dataSource.transaction(async (manager) => …)",
    is: (tx) => has(tx, "query", "getRepository") || has(tx, "query", "startTransaction"),
    query: (tx, text, values) => tx.query(text, values),
  }),
  library<ClientTransaction>({
    name: "pg",
    pass: "a client of pool.connect() after begin",
    is: (tx) => typeof tx === "object" && has(tx, "query"),
    query: (tx, text, values) => tx.query(text, values),
  }),
];

/** Statements in one transaction. */
export interface TransactionQuery {
  /** What the application passed. */
  readonly tx: object;
  /** The error if it is not in a transaction. */
  readonly notInTransaction: () => PosthornError;
  query(text: string, values: Value[]): Promise<readonly unknown[]>;
}

/** Throws `not_a_transaction` if the object belongs to no known library. */
export function queryIn(tx: Transaction): TransactionQuery {
  const known = libraryOf(tx);
  if (known === undefined) throw notATransaction(tx === undefined ? isUndefined : isUnknown);
  return {
    tx,
    notInTransaction: () =>
      notATransaction(
        `tx (${known.name}) is not in a transaction: the event would have been committed on its own, so nothing was stored. Pass ${known.pass}, or leave tx out.`,
      ),
    query: async (text, values) => rowsOf(await known.query(tx, text, values)),
  };
}

/** Whether it is an object of a library that `tx` accepts. */
export function isOfKnownLibrary(value: unknown): boolean {
  return libraryOf(value) !== undefined;
}

function libraryOf(tx: unknown): Library<unknown> | undefined {
  // postgres.js and Knex pass functions
  const isObject = typeof tx === "function" || (typeof tx === "object" && tx !== null);
  return isObject ? libraries.find(({ is }) => is(tx)) : undefined;
}

const isUndefined =
  "tx is undefined: the event would be published outside your transaction. Pass the transaction, or leave tx out.";
const isUnknown = `tx belongs to no library that Posthorn knows (${[...new Set(libraries.map(({ name }) => name))].join(", ")}). Send the statement of publishStatement(event) in your transaction instead.`;

function notATransaction(message: string): PosthornError {
  return new PosthornError("not_a_transaction", message);
}

/** Some libraries return only the rows. */
function rowsOf(result: unknown): readonly unknown[] {
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown } | undefined)?.rows;
  if (Array.isArray(rows)) return rows;
  throw notPostgresql();
}

/** For a driver of another database, or a stand-in that returns something else. */
export function notPostgresql(): PosthornError {
  return notATransaction(
    "The query method of tx did not return the event's row: it is not a client of PostgreSQL.",
  );
}

/** Keeps the type of a row's transaction within the row. */
function library<Tx>(row: Library<Tx>): Library<unknown> {
  return row as Library<unknown>;
}

function has(tx: object, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof (tx as Record<string, unknown>)[method] === "function");
}

/** As Kysely's `CompiledQuery.raw` returns it. */
function compiledQuery(text: string, values: readonly Value[]): object {
  const query = { kind: "RawNode", sqlFragments: [text], parameters: [] };
  return { sql: text, parameters: values, query, queryId: { queryId: crypto.randomUUID() } };
}

interface Sequelize {
  query(text: string, options: object): PromiseLike<readonly [rows: unknown, result: unknown]>;
}

/** The declaration of transactions leaves this property out. */
function sequelizeOf(tx: SequelizeTransaction): Sequelize | undefined {
  return (tx as unknown as { sequelize?: Sequelize }).sequelize;
}

/** Knex has no `$1`, so a value that is used twice is passed twice. */
function withQuestionMarks(text: string, values: readonly Value[]) {
  const repeated: (Value | undefined)[] = [];
  const marked = text.replaceAll(/\$(\d+)/g, (_, position) => {
    repeated.push(values[Number(position) - 1]);
    return "?";
  });
  return { marked, repeated };
}
