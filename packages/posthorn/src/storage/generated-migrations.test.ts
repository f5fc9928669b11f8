import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { migrations } from "./generated/migrations.ts";

test("the checked-in module holds every migration as its file has it", () => {
  const folder = new URL("./migrations/", import.meta.url);
  const files = readdirSync(folder).sort();
  const expected = files.map((file, index) => {
    const sql = readFileSync(new URL(file, folder), "utf8").replaceAll("\r\n", "\n");
    const checksum = createHash("sha256").update(sql).digest("hex");
    return { version: index + 1, name: file.slice(5, -4), checksum, sql };
  });

  expect(migrations, "run node scripts/build-migrations.mjs").toEqual(expected);
});
