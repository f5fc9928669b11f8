// @posthorn/receiver/redis
export type { IoredisClient, NodeRedisClient, RedisClient } from "./client.ts";
export { type RedisStoreOptions, redisStore } from "./redis-store.ts";
