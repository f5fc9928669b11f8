// Statements are written for a schema named posthorn, so that they can be pasted into psql. The configured schema is
// inserted when they are sent.

/** A statement with the name under which it is prepared and measured. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** It may run for any time, like a migration. Others time out after seconds. */
  readonly hasNoTimeout: boolean;
  /** Planned for its values every time: a generic plan for a range of ids expects the range to hold few rows. */
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

/** Replaces only the schema: `posthorn.queue`, not `posthorn_worker`. */
export function inSchema(text: string, schema: string): string {
  return text.replace(/(?<![\w."])posthorn\./g, `"${schema}".`);
}
