// Keeps the busy tables small and their statistics true. The queue goes from nothing to a million rows and back within
// minutes; autovacuum looks once a minute, and until then every claim walks over what is dead.
import { performance } from "node:perf_hooks";
import type { Logger } from "../observe/log.ts";
import type { Queryable } from "../storage/database.ts";
import {
  analyze,
  type BusyTable,
  type TableState,
  tableStates,
  vacuum,
} from "../storage/queries/tables/vacuum.ts";

export interface Tended {
  /** Of the last vacuum or analyze. */
  readonly pages: number;
  /** What a vacuum had to leave, because an old transaction could still see it. */
  readonly deadRows: number;
  readonly vacuumedAtMs: number;
}

export type Care = "vacuum" | "analyze" | "none";

export const untended: Tended = { pages: 0, deadRows: 0, vacuumedAtMs: Number.NEGATIVE_INFINITY };

const fewDeadRows = 5_000;
const vacuumEveryMs = 10_000;
const fewPages = 64;

/** A vacuum when a fifth of the table died since the last; new statistics as soon as its size changed fourfold. */
export function careFor(state: TableState, last: Tended, nowMs: number): Care {
  const died = state.deadRows - last.deadRows;
  const isDue = nowMs - last.vacuumedAtMs >= vacuumEveryMs;
  if (state.mayVacuum && isDue && died >= Math.max(fewDeadRows, state.liveRows / 5)) return "vacuum";
  // A plan that was made for a handful of rows reads a large queue from end to end; new statistics make a new plan.
  const hasGrown = state.pages > Math.max(fewPages, last.pages * 4);
  return hasGrown || state.pages < last.pages / 4 ? "analyze" : "none";
}

export class TableVacuum {
  readonly #options: { readonly db: Queryable; readonly logger: Logger };
  readonly #tended = new Map<BusyTable, Tended>();
  #toldOfRights = false;

  constructor(options: { readonly db: Queryable; readonly logger: Logger }) {
    this.#options = options;
  }

  async tend(): Promise<void> {
    const { db } = this.#options;
    for (const state of await tableStates(db)) {
      if (!state.mayVacuum) this.#tellOfRights(state.table);
      const last = this.#tended.get(state.table) ?? untended;
      const care = careFor(state, last, performance.now());
      if (care === "vacuum") await this.#vacuum(state.table);
      if (care !== "analyze") continue;
      await analyze(db, state.table);
      this.#tended.set(state.table, { ...last, pages: state.pages });
    }
  }

  async #vacuum(table: BusyTable): Promise<void> {
    const { db } = this.#options;
    await vacuum(db, table);
    const after = (await tableStates(db)).find((state) => state.table === table);
    this.#tended.set(table, {
      pages: after?.pages ?? 0,
      deadRows: after?.deadRows ?? 0,
      vacuumedAtMs: performance.now(),
    });
  }

  #tellOfRights(table: BusyTable): void {
    if (this.#toldOfRights) return;
    this.#toldOfRights = true;
    this.#options.logger.warn(
      "this role does not own the tables and may not vacuum them; autovacuum has to do",
      {
        table,
      },
    );
  }
}
