// Facts about an installation that are decided by whichever process comes first.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function getMeta(db: Queryable, name: string): Promise<string | null> {
  const [row] = await db.query<{ value: string }>(getStatement, [name]);
  return row?.value ?? null;
}

const getStatement = statement("get meta", "select m.value from posthorn.meta m where m.name = $1::text");

/** Returns the value that is stored now: the one given, or that of whoever was first. */
export async function setMetaOnce(db: Queryable, name: string, value: string): Promise<string> {
  await db.query(setStatement, [name, value]);
  // A second statement sees what a concurrent first one committed.
  return (await getMeta(db, name)) ?? value;
}

const setStatement = statement(
  "set meta once",
  `
insert into posthorn.meta (name, value)
values ($1::text, $2::text)
on conflict (name) do nothing
`,
);

/** Whoever reads the old value meanwhile and replaces it too changes nothing. */
export async function replaceMeta(db: Queryable, name: string, from: string, to: string): Promise<void> {
  await db.query(replaceStatement, [name, from, to]);
}

const replaceStatement = statement(
  "replace meta",
  `
update posthorn.meta
set value = $3::text
where name = $1::text
  and value = $2::text
`,
);
