// Compares pages of lists among a million finished deliveries and a backlog with those among a thousand.
import { randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn } from "posthorn";
import { medianNumber } from "../measure.ts";
import type { Plan } from "../options.ts";
import { milliseconds, progress, renderTable, whole } from "../table.ts";
import type { World } from "../world.ts";
import { backlogged, endpointOf, fillLists, rare, typical } from "./list-rows.ts";

interface PageFigures {
  readonly title: string;
  readonly ms: number;
  /** Rows on the page; pages with fewer rows are cheaper. */
  readonly rows: number;
}

const few = 1_000;

/** Uses `lists` finished deliveries and 30 % as many queued ones. */
export async function listsTable(world: World, { parts, lists: many }: Plan): Promise<string | null> {
  if (!parts.has("lists")) return null;
  progress(`inserting ${whole(many)} finished deliveries`);
  const ofFew = await measureLists(world, "lists_few", few);
  const ofMany = await measureLists(world, "lists_many", many);
  const rows = ofFew.map((page, index) => {
    const among = ofMany[index] as PageFigures;
    const cells = [page, among].flatMap(({ ms, rows }) => [milliseconds(ms), whole(rows)]);
    return [page.title, ...cells, milliseconds(among.ms / page.ms)];
  });
  const head = ["a page, ms at", whole(few), "rows", whole(many), "rows", "ratio (target: at most 3)"];
  return renderTable(head, rows);
}

type DeliveryFilter = Parameters<Posthorn["deliveries"]["list"]>[0];
type EventFilter = Parameters<Posthorn["events"]["list"]>[0];

const deliveryLists: Readonly<Record<string, DeliveryFilter>> = {
  all: {},
  success: { state: "success" },
  dead: { state: "dead" },
  "dead, of a rare reason": { reason: "gone" },
  failed: { state: "failed" },
  pending: { state: "pending" },
  "in flight": { state: "in_flight" },
  "of a common type": { type: "order.paid" },
  "of a rare type": { type: rare.type },
  "dead, of a rare type": { type: rare.type, state: "dead" },
  "a tenant's": { tenant: typical },
  "a tenant's dead": { tenant: typical, state: "dead" },
  "a tenant's failed": { tenant: typical, state: "failed" },
  "a tenant's in flight": { tenant: typical, state: "in_flight" },
  "a tenant's, of a type": { tenant: typical, type: "order.refunded" },
  "a tenant's with a backlog": { tenant: backlogged },
};

const eventLists: Readonly<Record<string, EventFilter>> = {
  events: {},
  "events of a rare type": { type: rare.type },
  "events of a rare subject": { subject: rare.subject },
  "a tenant's events": { tenant: typical },
  "a tenant's events of a rare type": { tenant: backlogged, type: rare.type },
};

type Query = () => Promise<{ readonly data: readonly unknown[] }>;

/** Returns the measured pages; `ids` are the endpoints of a typical tenant and of the one with the backlog. */
function pagesOf({ deliveries, endpoints, events }: Posthorn, ids: readonly [string, string]) {
  const pages: Record<string, Query> = {
    "the retry queue": () => deliveries.retryQueue(),
    "a tenant's retry queue": () => deliveries.retryQueue({ tenant: backlogged }),
    "attempts of an endpoint": () => endpoints.attempts(typical, ids[0]),
    "attempts of one with a backlog": () => endpoints.attempts(backlogged, ids[1]),
  };
  for (const [title, filter] of Object.entries(deliveryLists)) pages[title] = () => deliveries.list(filter);
  for (const [title, filter] of Object.entries(eventLists)) pages[title] = () => events.list(filter);
  return Object.entries(pages);
}

const repetitions = 25;
/** Not measured, because they plan the statement. */
const warmUpRepetitions = 10;

async function measureLists(world: World, name: string, count: number): Promise<PageFigures[]> {
  const url = await world.createDatabase(name);
  const encryptionKeys = `bench:${randomBytes(32).toString("base64")}`;
  const hooks = createPosthorn({ database: url, encryptionKeys });
  const figures: PageFigures[] = [];
  try {
    await hooks.migrate();
    const sql = await world.connect(url);
    await fillLists(sql, count);
    const ids = [await endpointOf(sql, typical), await endpointOf(sql, backlogged)] as const;
    // without workers; uses direct connections and prepared statements like a server
    await hooks.start({ role: "api" });
    for (const [title, query] of pagesOf(hooks, ids)) figures.push({ title, ...(await measurePage(query)) });
  } finally {
    await hooks.stop();
  }
  return figures;
}

async function measurePage(query: Query): Promise<{ ms: number; rows: number }> {
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
