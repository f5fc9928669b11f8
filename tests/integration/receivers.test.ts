// What a receiver promises, on every store with real servers and in each mode the store allows.
import { afterAll, beforeAll, describe } from "vitest";
import { openPool, openPostgres } from "../support/receiver/postgres-world.ts";
import { receiverSuite } from "../support/receiver/receiver-suite.ts";
import { openRedisWorld } from "../support/receiver/redis-world.ts";
import { openSqliteWorld } from "../support/receiver/sqlite-world.ts";
import {
  findRedisServer,
  type RedisServer,
  startRedisServer,
  withoutRedis,
} from "../support/redis-server.ts";

const everyMode = ["transactional", "lease", "inbox"] as const;

receiverSuite("PostgreSQL", openPostgres(openPool), everyMode);
receiverSuite("SQLite", () => openSqliteWorld("libsql"), everyMode, 1);

const program = findRedisServer() as string;

describe.skipIf(program === null)(`with a Redis server (${withoutRedis})`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer(program);
  });
  afterAll(() => server.close());

  receiverSuite("Redis", () => openRedisWorld("ioredis", server.path), ["lease", "inbox"], 2);
});
