// Statements are written for a schema named posthorn, so that they can be pasted into psql. The configured schema is
// inserted when they are sent.

/** A statement with the name under which it is prepared and measured. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** It may run for any time, like a migration. Others time out after seconds. */
  readonly hasNoTimeout?: boolean;
  /** Planned for its values every time: a generic plan for a range of ids expects the range to hold few rows. */
  readonly replansEachTime?: boolean;
}

/** The tag of a statement's text: `statement("find tenant")\`select …\``. */
export function statement(name: string | Omit<Statement, "text">) {
  return (texts: TemplateStringsArray, ...parts: readonly (string | number)[]): Statement => ({
    ...(typeof name === "string" ? { name } : name),
    text: String.raw({ raw: texts }, ...parts).trim(),
  });
}

/**
 * An expression that makes the commit of the current transaction durable in a database with `synchronous_commit = off`,
 * where a crash would lose the last acknowledged commits. It needs no round trip and leaves the session unchanged, so it
 * works behind a transaction pooler. Other values are durable and stay.
 */
export const durableCommit = `case current_setting('synchronous_commit')
    when 'off' then set_config('synchronous_commit', 'on', true)
  end`;

const schemaSyntax = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

export function isSchemaName(schema: string): boolean {
  return schemaSyntax.test(schema);
}

/** Replaces only the schema: `posthorn.queue`, not `posthorn_worker`. */
export function inSchema(text: string, schema: string): string {
  return text.replace(/(?<![\w."])posthorn\./g, `"${schema}".`);
}
