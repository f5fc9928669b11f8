// Whether a publication has what its source follows. The log has no rows that were written while it had not.
import { escapeIdentifier, type ForeignConnection } from "../storage/foreign/connection.ts";
import { isPartitioned, readPublication } from "../storage/foreign/slots.ts";
import type { SourceConfig } from "./options.ts";

/** Returns what is wrong with it and the statement that corrects it, or null. */
export async function publicationProblem(
  connection: Pick<ForeignConnection, "query">,
  { publication: name, table }: Pick<SourceConfig, "publication" | "table">,
): Promise<string | null> {
  const publication = await readPublication(connection, name);
  const quotedTable = table === null ? "" : `${quoted(table.schema)}.${quoted(table.name)}`;
  if (publication === null) {
    return `there is no publication "${name}": create publication ${quoted(name)}${table === null ? "" : ` for table ${quotedTable}`}`;
  }
  if (table === null) return null;
  const alter = `alter publication ${quoted(name)}`;
  if (!publication.hasInserts) {
    return `the publication "${name}" does not publish inserts: ${alter} set (publish = 'insert')`;
  }
  if (publication.tables.includes(`${table.schema}.${table.name}`)) return null;
  if (!publication.isViaRoot && (await isPartitioned(connection, table.schema, table.name))) {
    return `the publication "${name}" publishes the partitions of ${quotedTable} as tables of their own: ${alter} set (publish_via_partition_root = true)`;
  }
  return `the publication "${name}" has no table ${quotedTable}: ${alter} add table ${quotedTable}`;
}

/** As in a statement: quoted only if PostgreSQL reads it as another name otherwise. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : escapeIdentifier(name);
}
