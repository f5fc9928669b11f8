// What a page of a list costs among a million finished deliveries and a backlog, against one among a thousand.
import { randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn } from "posthorn";
import { backlogged, calm, endpointOf, fillLists, rare } from "./list-rows.ts";
import { medianNumber } from "./measure.ts";
import type { World } from "./world.ts";

export interface ListFigures {
  readonly title: string;
  readonly few: PageFigures;
  readonly many: PageFigures;
}

export interface PageFigures {
  readonly ms: number;
  /** On the page; where there are fewer than elsewhere, it is cheaper also because of that. */
  readonly rows: number;
}

const few = 1_000;

/** `count` finished ones, and for ten of them three that are owed. */
export async function compareLists(world: World, count: number): Promise<ListFigures[]> {
  const ofFew = await measureLists(world, "lists_few", few);
  const ofMany = await measureLists(world, "lists_many", count);
  return pages.map(([title]) => ({
    title,
    few: ofFew.get(title) as PageFigures,
    many: ofMany.get(title) as PageFigures,
  }));
}

interface Asked {
  readonly hooks: Posthorn;
  /** Of the calm tenant, and of the one with the backlog. */
  readonly calmEndpoint: string;
  readonly backloggedEndpoint: string;
}

type Look = (asked: Asked) => Promise<{ readonly data: readonly unknown[] }>;

const pages: readonly (readonly [string, Look])[] = [
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
  ["a tenant's", ({ hooks }) => hooks.deliveries.list({ tenant: calm })],
  ["a tenant's dead", ({ hooks }) => hooks.deliveries.list({ tenant: calm, state: "dead" })],
  ["a tenant's failed", ({ hooks }) => hooks.deliveries.list({ tenant: calm, state: "failed" })],
  ["a tenant's in flight", ({ hooks }) => hooks.deliveries.list({ tenant: calm, state: "in_flight" })],
  ["a tenant's, of a type", ({ hooks }) => hooks.deliveries.list({ tenant: calm, type: "order.refunded" })],
  ["a tenant's with a backlog", ({ hooks }) => hooks.deliveries.list({ tenant: backlogged })],
  ["the retry queue", ({ hooks }) => hooks.deliveries.retryQueue()],
  ["a tenant's retry queue", ({ hooks }) => hooks.deliveries.retryQueue({ tenant: backlogged })],
  ["attempts of an endpoint", ({ hooks, calmEndpoint }) => hooks.endpoints.attempts(calm, calmEndpoint)],
  [
    "attempts of one with a backlog",
    ({ hooks, backloggedEndpoint }) => hooks.endpoints.attempts(backlogged, backloggedEndpoint),
  ],
  ["events", ({ hooks }) => hooks.events.list()],
  ["events of a rare type", ({ hooks }) => hooks.events.list({ type: rare.type })],
  ["events of a rare subject", ({ hooks }) => hooks.events.list({ subject: rare.subject })],
  ["a tenant's events", ({ hooks }) => hooks.events.list({ tenant: calm })],
  [
    "a tenant's events of a rare type",
    ({ hooks }) => hooks.events.list({ tenant: backlogged, type: rare.type }),
  ],
];

const looks = 25;
/** The first ones plan the statement. */
const looksBefore = 10;

async function measureLists(world: World, name: string, count: number): Promise<Map<string, PageFigures>> {
  const url = await world.createDatabase(name);
  const encryptionKeys = `bench:${randomBytes(32).toString("base64")}`;
  const hooks = createPosthorn({ database: url, encryptionKeys });
  const figures = new Map<string, PageFigures>();
  try {
    await hooks.migrate();
    const sql = await world.connect(url);
    await fillLists(sql, count);
    const calmEndpoint = await endpointOf(sql, calm);
    const backloggedEndpoint = await endpointOf(sql, backlogged);
    // without workers: it takes direct connections and prepares its statements as a server does
    await hooks.start({ role: "api" });
    for (const [title, look] of pages)
      figures.set(title, await measurePage(() => look({ hooks, calmEndpoint, backloggedEndpoint })));
  } finally {
    await hooks.stop();
  }
  return figures;
}

async function measurePage(look: () => ReturnType<Look>): Promise<PageFigures> {
  const times: number[] = [];
  let rows = 0;
  for (let index = 0; index < looks; index += 1) {
    const startedAt = performance.now();
    const { data } = await look();
    times.push(performance.now() - startedAt);
    rows = data.length;
  }
  return { ms: medianNumber(times.slice(looksBefore)), rows };
}
