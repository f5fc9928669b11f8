// Writes the store's schema to files, for use with your own migration tool.
import { mkdirSync, writeFileSync } from "node:fs";
import { migrations } from "@posthorn/receiver/postgres";

const folder = process.env.MIGRATIONS_FOLDER ?? "migrations";
mkdirSync(folder, { recursive: true });
for (const { version, name, sql } of migrations()) {
  writeFileSync(`${folder}/${version}-posthorn-receiver-${name}.sql`, sql);
}
