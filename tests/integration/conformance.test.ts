// One suite, every backend: the embedded server, the system's own, and one behind pgbouncer in transaction mode.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Place, testConformance } from "../support/conformance.ts";
import { isQuick } from "../support/matrix.ts";
import { queryOnce } from "../support/own-postgres.ts";
import { createDatabase } from "../support/postgres.ts";
import {
  findPgbouncer,
  findSystemPostgres,
  startPgbouncer,
  startSystemPostgres,
} from "../support/system-postgres.ts";

describe("on the embedded PostgreSQL", () => {
  testConformance(openEmbedded);
});

const programs = isQuick ? null : findSystemPostgres();
describe.skipIf(programs === null)("on the system's PostgreSQL (skipped where none can be had)", () => {
  testConformance(() => startSystemPostgres(programs as string));
});

const pgbouncer = findPgbouncer();
describe.skipIf(pgbouncer === null)(
  "behind pgbouncer in transaction mode (skipped where it cannot be had)",
  () => {
    testConformance(() => openPooled(pgbouncer as string), { isDirect: false });
  },
);

describe.skipIf(isQuick)(
  "in a schema named My-hooks, in Newfoundland's time on a database in Nepal's",
  () => {
    const timeZone = process.env.TZ;
    beforeAll(() => {
      process.env.TZ = "America/St_Johns";
    });
    afterAll(() => {
      if (timeZone === undefined) delete process.env.TZ;
      else process.env.TZ = timeZone;
    });

    test("this process and the database tell the time differently", () => {
      expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe(210);
    });

    testConformance(async () => {
      const embedded = await openEmbedded();
      const { connectionString } = embedded;
      const [row] = await queryOnce<{ name: string }>(connectionString, "select current_database() as name");
      await queryOnce(connectionString, `alter database ${row?.name} set timezone = 'Asia/Kathmandu'`);
      expect(await queryOnce(connectionString, "show timezone")).toEqual([{ TimeZone: "Asia/Kathmandu" }]);
      return { ...embedded, schema: "My-hooks" };
    });
  },
);

async function openPooled(program: string): Promise<Place> {
  const embedded = await openEmbedded();
  const { connectionString, close } = await startPgbouncer(program, embedded.connectionString);
  return {
    connectionString,
    async close() {
      await close();
      await embedded.close();
    },
  };
}

async function openEmbedded(): Promise<Place> {
  const database = await createDatabase();
  return { connectionString: database.connectionString, close: database.drop };
}
