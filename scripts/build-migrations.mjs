// Generates a module from storage/migrations/*.sql, so that bundlers include them. The module is checked in, and a unit test
// compares it with the files. With --release it also records their checksums in released.json: from then on a test fails
// if one of these files changes. Run it that way before each release.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const storage = fileURLToPath(new URL("../packages/posthorn/src/storage", import.meta.url));
const source = join(storage, "migrations");
const target = join(storage, "generated/migrations.ts");

const migrations = readMigrations();
if (process.argv.includes("--release")) recordReleased();
const text = render(migrations);
if (!existsSync(target) || readFileSync(target, "utf8") !== text) {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function readMigrations() {
  const files = readdirSync(source)
    .filter((file) => file.endsWith(".sql"))
    .sort();
  return files.map((file, index) => {
    const [, version, name] = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file) ?? [];
    if (Number(version) !== index + 1) {
      throw new Error(`${file}: migrations are named 0001-what-it-does.sql and numbered without gaps.`);
    }
    // a checkout may have changed line endings
    const sql = readFileSync(join(source, file), "utf8").replaceAll("\r\n", "\n");
    const checksum = createHash("sha256").update(sql).digest("hex");
    return { version: index + 1, name, checksum, sql };
  });
}

function recordReleased() {
  const file = join(source, "released.json");
  const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const now = migrations.map(({ name, checksum }) => ({ name, checksum }));
  const changed = before.find(
    ({ name, checksum }, i) => now[i]?.name !== name || now[i].checksum !== checksum,
  );
  if (changed !== undefined) {
    throw new Error(
      `Migration ${changed.name} was released and has changed. Restore it, and add a new migration.`,
    );
  }
  writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
}

function render(migrations) {
  const items = migrations.map(
    ({ version, name, checksum, sql }) =>
      `  {\n    version: ${version},\n    name: ${JSON.stringify(name)},\n    checksum: ${JSON.stringify(checksum)},\n` +
      `    sql: \`${sql.replace(/[`\\]|\$\{/g, "\\$&")}\`,\n  },\n`,
  );
  return (
    "// Generated from storage/migrations/*.sql by scripts/build-migrations.mjs.\n\n" +
    "export interface Migration {\n" +
    "  readonly version: number;\n  readonly name: string;\n" +
    "  /** SHA-256 of the file, in hex. */\n  readonly checksum: string;\n" +
    "  /** Written for a schema named posthorn. */\n  readonly sql: string;\n}\n\n" +
    `export const migrations: readonly Migration[] = [\n${items.join("")}];\n`
  );
}
