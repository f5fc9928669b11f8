// Facts about an installation. The first process to write a fact decides it.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function getMetadata(db: Queryable, name: string): Promise<string | null> {
  const [row] = await db.query<{ value: string }>(getStatement, [name]);
  return row?.value ?? null;
}

const getStatement = statement(
  "get metadata",
  "select m.value from posthorn.metadata m where m.name = $1::text",
);

/** Returns the stored value, which another process may have written first. */
export async function setMetadataOnce(db: Queryable, name: string, value: string): Promise<string> {
  await db.query(setStatement, [name, value]);
  // a second statement sees what a concurrent transaction committed
  return (await getMetadata(db, name)) ?? value;
}

const setStatement = statement(
  "set metadata once",
  `
insert into posthorn.metadata (name, value)
values ($1::text, $2::text)
on conflict (name) do nothing
`,
);

/** Does nothing if another process has already replaced the value. */
export async function replaceMetadata(db: Queryable, name: string, from: string, to: string): Promise<void> {
  await db.query(replaceStatement, [name, from, to]);
}

const replaceStatement = statement(
  "replace metadata",
  `
update posthorn.metadata
set value = $3::text
where name = $1::text
  and value = $2::text
`,
);
