// A list of 100,000 deliveries in a real browser: few rows are rendered, and scrolling shows every row once.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createPool } from "../support/database/postgres.ts";
import { expectFitToShow, openDashboard } from "../support/processes/browser.ts";
import { startServer } from "../support/servers/start-server.ts";

const ROWS = 100_000;
const WALKED = 3_000;
/** A window of 800 px shows 20 rows; some more are rendered above and below. */
const MOST_ROWS_IN_PAGE = 60;
const ROW_PX = 41;

/** Opens the list of dead deliveries on a server that has so many. Returns their ids, newest first. */
async function openList(): Promise<{ readonly page: Page; readonly ids: readonly string[] }> {
  const server = await startServer({ started: false });
  const { id: endpoint } = await server.newEndpoint({}, "acme");
  const pool = createPool(server.connectionString);
  const { rows } = await pool.query<{ id: string }>(
    `with made as (
         insert into posthorn.events (id, tenant, type, api_version, payload)
         select posthorn.uuidv7(now() - n * interval '1 millisecond'), 'acme', 'order.paid', '1', '1'
         from generate_series(1, $2::integer) n
         returning id
       ), delivered as (
         insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
         select id, id, $1, 'dead', 'rejected', 0, 0, now() from made
         returning id
       )
       select 'dlv_' || id as id from delivered order by delivered.id desc`,
    [endpoint.slice(3), ROWS],
  );
  await pool.query("analyze posthorn.deliveries");
  await pool.end();
  const page = await openDashboard(server, "/deliveries");
  await page.locator("tr[data-row]").first().waitFor();
  return { page, ids: rows.map(({ id }) => id) };
}

interface Walk {
  /** Ids by position in the list. */
  readonly seen: readonly (string | null)[];
  readonly mostRows: number;
}

/** Scrolls down in steps of less than a window and waits until the visible rows are loaded. */
function walk(page: Page, count: number): Promise<Walk> {
  return page.evaluate(async (wanted) => {
    const seen: (string | null)[] = Array.from({ length: wanted }, () => null);
    const frame = () => new Promise(requestAnimationFrame);
    let mostRows = 0;
    let last = 0;
    while (last < wanted) {
      await frame();
      const rows = [...document.querySelectorAll<HTMLElement>("tbody tr[aria-rowindex]")];
      mostRows = Math.max(mostRows, rows.length);
      if (rows.some((row) => row.dataset.row === undefined)) continue;
      for (const row of rows) {
        const index = Number(row.ariaRowIndex ?? row.getAttribute("aria-rowindex")) - 2;
        const id = row.dataset.row ?? null;
        if (index >= wanted) continue;
        if (seen[index] !== null && seen[index] !== id) throw new Error(`row ${index} is another one now`);
        seen[index] = id;
        last = Math.max(last, index + 1);
      }
      window.scrollBy(0, 600);
    }
    return { seen, mostRows };
  }, count);
}

const isCurrent = (page: Page, id: string) => page.locator(`tr[data-row="${id}"][aria-current=true]`);

test("scrolling shows every row once and in order, and few rows are rendered", async () => {
  const { page, ids } = await openList();
  await expectFitToShow(page, "deliveries-long");
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/deliveries?")) requests += 1;
  });
  const { seen, mostRows } = await walk(page, WALKED);
  expect(seen).toEqual(ids.slice(0, WALKED));
  expect(mostRows).toBeLessThan(MOST_ROWS_IN_PAGE);
  expect(requests).toBeLessThanOrEqual(WALKED / 100 + 1);

  // jumping far back loads only the evicted page
  requests = 0;
  await page.evaluate((top) => window.scrollTo(0, top), 1_000 * ROW_PX);
  await page.locator(`tr[data-row="${ids[1_000]}"]`).waitFor();
  expect(requests).toBeLessThanOrEqual(3);

  // a change reloads only the visible pages
  requests = 0;
  const response = page.waitForResponse((response) => response.url().endsWith("/retry"));
  await page.keyboard.press("j");
  await isCurrent(page, ids[0] as string).waitFor();
  await page.keyboard.press("r");
  await response;
  await page.getByText("Retry started.").waitFor();
  expect(requests).toBeLessThanOrEqual(5);
});

test("the keyboard moves past a page, and going back restores the position", async () => {
  const { page, ids } = await openList();
  for (let row = 0; row < 130; row += 1) {
    await page.keyboard.press("j");
    await isCurrent(page, ids[row] as string).waitFor();
  }
  await page.keyboard.press("k");
  await isCurrent(page, ids[128] as string).waitFor();
  const top = await page.evaluate(() => window.scrollY);
  expect(top).toBeGreaterThan(100 * ROW_PX);
  await page.keyboard.press("o");
  await page.waitForURL(`**/deliveries/${ids[128]}`);
  await page.goBack();
  await isCurrent(page, ids[128] as string).waitFor();
  expect(await page.evaluate(() => window.scrollY)).toBe(top);
  await page.keyboard.press("j");
  await isCurrent(page, ids[129] as string).waitFor();
});
