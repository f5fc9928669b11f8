import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { migrations } from "./generated/migrations.ts";
import released from "./migrations/released.json" with { type: "json" };

const folder = new URL("./migrations/", import.meta.url);
const files = readdirSync(folder)
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .map((file, index) => {
    const sql = readFileSync(new URL(file, folder), "utf8").replaceAll("\r\n", "\n");
    const checksum = createHash("sha256").update(sql).digest("hex");
    return { version: index + 1, name: file.slice(5, -4), checksum, sql };
  });

test("the checked-in module contains every migration unchanged", () => {
  expect(migrations, "Run node scripts/build-migrations.mjs").toEqual(files);
});

test("a released migration is never changed, renamed or removed", () => {
  expect(
    files.slice(0, released.length).map(({ name, checksum }) => ({ name, checksum })),
    "A migration listed in released.json has changed. Users' databases have already run it: restore the file " +
      "with git, and put the change into a new migration with the next number.",
  ).toEqual(released);
});
