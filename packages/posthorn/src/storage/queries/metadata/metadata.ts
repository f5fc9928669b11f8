// Facts about an installation. The first process to write a fact decides it.
import type { Queryable } from "../../database.ts";
import { run, value } from "../../query.ts";

export const getMetadata = value<string | null, [name: string]>("get metadata")`
select m.value
from posthorn.metadata m
where m.name = $1::text
`;

/** Returns the stored value, which another process may have written first. */
export async function setMetadataOnce(db: Queryable, name: string, value: string): Promise<string> {
  await set(db, name, value);
  // a second statement sees what a concurrent transaction committed
  return (await getMetadata(db, name)) ?? value;
}

const set = run<[name: string, value: string]>("set metadata once")`
insert into posthorn.metadata (name, value)
values ($1::text, $2::text)
on conflict (name) do nothing
`;

/** Does nothing if another process has already replaced the value. */
export const replaceMetadata = run<[name: string, from: string, to: string]>("replace metadata")`
update posthorn.metadata
set value = $3::text
where name = $1::text
  and value = $2::text
`;
