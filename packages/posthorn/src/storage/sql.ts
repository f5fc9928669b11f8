// SQL stays SQL: statements are written for a schema named posthorn, can be pasted into psql as they stand, and get
// the configured schema when they are sent.

/** One statement, under the name it is prepared and measured by. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** It may wait and work for as long as it takes: a migration does. All others are given up after seconds. */
  readonly hasNoTimeout: boolean;
  /** For its values every time, and not once for all: a plan for any range of ids expects that a range holds few. */
  readonly replansEachTime?: boolean;
}

export function statement(
  name: string,
  text: string,
  { hasNoTimeout = false, replansEachTime = false } = {},
): Statement {
  return { name, text: text.trim(), hasNoTimeout, replansEachTime };
}

const schemaSyntax = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

export function isSchemaName(schema: string): boolean {
  return schemaSyntax.test(schema);
}

/** Only a whole word followed by a dot is the schema: `posthorn.queue`, never `posthorn_worker`. */
export function inSchema(text: string, schema: string): string {
  return text.replace(/(?<![\w."])posthorn\./g, `"${schema}".`);
}
