// Compares pages of lists among a million finished deliveries and a backlog with those among a thousand.
import { randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn } from "posthorn";
import { backlogged, endpointOf, fillLists, rare, typical } from "./list-rows.ts";
import { medianNumber } from "./measure.ts";
import type { World } from "./world.ts";

export interface ListFigures {
  readonly title: string;
  readonly few: PageFigures;
  readonly many: PageFigures;
}

export interface PageFigures {
  readonly ms: number;
  /** Rows on the page; pages with fewer rows are cheaper. */
  readonly rows: number;
}

const few = 1_000;

/** Uses `count` finished deliveries and 30 % as many queued ones. */
export async function compareLists(world: World, count: number): Promise<ListFigures[]> {
  const ofFew = await measureLists(world, "lists_few", few);
  const ofMany = await measureLists(world, "lists_many", count);
  return pages.map(([title]) => ({
    title,
    few: ofFew.get(title) as PageFigures,
    many: ofMany.get(title) as PageFigures,
  }));
}

interface ListWorld {
  readonly hooks: Posthorn;
  /** Endpoints of a typical tenant and of the one with the backlog. */
  readonly typicalEndpoint: string;
  readonly backloggedEndpoint: string;
}

type Query = (listWorld: ListWorld) => Promise<{ readonly data: readonly unknown[] }>;

const pages: readonly (readonly [string, Query])[] = [
  ["all", ({ hooks }) => hooks.deliveries.list()],
  ["success", ({ hooks }) => hooks.deliveries.list({ state: "success" })],
  ["dead", ({ hooks }) => hooks.deliveries.list({ state: "dead" })],
  ["dead, of a rare reason", ({ hooks }) => hooks.deliveries.list({ reason: "gone" })],
  ["failed", ({ hooks }) => hooks.deliveries.list({ state: "failed" })],
  ["pending", ({ hooks }) => hooks.deliveries.list({ state: "pending" })],
  ["in flight", ({ hooks }) => hooks.deliveries.list({ state: "in_flight" })],
  ["of a common type", ({ hooks }) => hooks.deliveries.list({ type: "order.paid" })],
  ["of a rare type", ({ hooks }) => hooks.deliveries.list({ type: rare.type })],
  ["dead, of a rare type", ({ hooks }) => hooks.deliveries.list({ type: rare.type, state: "dead" })],
  ["a tenant's", ({ hooks }) => hooks.deliveries.list({ tenant: typical })],
  ["a tenant's dead", ({ hooks }) => hooks.deliveries.list({ tenant: typical, state: "dead" })],
  ["a tenant's failed", ({ hooks }) => hooks.deliveries.list({ tenant: typical, state: "failed" })],
  ["a tenant's in flight", ({ hooks }) => hooks.deliveries.list({ tenant: typical, state: "in_flight" })],
  [
    "a tenant's, of a type",
    ({ hooks }) => hooks.deliveries.list({ tenant: typical, type: "order.refunded" }),
  ],
  ["a tenant's with a backlog", ({ hooks }) => hooks.deliveries.list({ tenant: backlogged })],
  ["the retry queue", ({ hooks }) => hooks.deliveries.retryQueue()],
  ["a tenant's retry queue", ({ hooks }) => hooks.deliveries.retryQueue({ tenant: backlogged })],
  [
    "attempts of an endpoint",
    ({ hooks, typicalEndpoint }) => hooks.endpoints.attempts(typical, typicalEndpoint),
  ],
  [
    "attempts of one with a backlog",
    ({ hooks, backloggedEndpoint }) => hooks.endpoints.attempts(backlogged, backloggedEndpoint),
  ],
  ["events", ({ hooks }) => hooks.events.list()],
  ["events of a rare type", ({ hooks }) => hooks.events.list({ type: rare.type })],
  ["events of a rare subject", ({ hooks }) => hooks.events.list({ subject: rare.subject })],
  ["a tenant's events", ({ hooks }) => hooks.events.list({ tenant: typical })],
  [
    "a tenant's events of a rare type",
    ({ hooks }) => hooks.events.list({ tenant: backlogged, type: rare.type }),
  ],
];

const repetitions = 25;
/** Not measured, because they plan the statement. */
const warmUpRepetitions = 10;

async function measureLists(world: World, name: string, count: number): Promise<Map<string, PageFigures>> {
  const url = await world.createDatabase(name);
  const encryptionKeys = `bench:${randomBytes(32).toString("base64")}`;
  const hooks = createPosthorn({ database: url, encryptionKeys });
  const figures = new Map<string, PageFigures>();
  try {
    await hooks.migrate();
    const sql = await world.connect(url);
    await fillLists(sql, count);
    const typicalEndpoint = await endpointOf(sql, typical);
    const backloggedEndpoint = await endpointOf(sql, backlogged);
    // without workers; uses direct connections and prepared statements like a server
    await hooks.start({ role: "api" });
    for (const [title, query] of pages)
      figures.set(title, await measurePage(() => query({ hooks, typicalEndpoint, backloggedEndpoint })));
  } finally {
    await hooks.stop();
  }
  return figures;
}

async function measurePage(query: () => ReturnType<Query>): Promise<PageFigures> {
  const times: number[] = [];
  let rows = 0;
  for (let index = 0; index < repetitions; index += 1) {
    const startedAt = performance.now();
    const { data } = await query();
    times.push(performance.now() - startedAt);
    rows = data.length;
  }
  return { ms: medianNumber(times.slice(warmUpRepetitions)), rows };
}
