// Vacuums the busy tables and keeps their statistics current. The queue grows to a million rows and shrinks again
// within minutes; autovacuum runs once a minute, and until then every claim reads dead rows.
import { performance } from "node:perf_hooks";
import type { Logger } from "../observe/log.ts";
import type { Queryable } from "../storage/database.ts";
import { analyze, type BusyTable, type TableState, tableStates, vacuum } from "../storage/queries/vacuum.ts";

export interface LastVacuum {
  /** State after the last vacuum or analyze. */
  readonly pages: number;
  /** Dead rows that the vacuum could not remove because an old transaction could still see them. */
  readonly deadRows: number;
  readonly vacuumedAtMs: number;
}

export type VacuumAction = "vacuum" | "analyze" | "none";

export const neverVacuumed: LastVacuum = { pages: 0, deadRows: 0, vacuumedAtMs: Number.NEGATIVE_INFINITY };

const fewDeadRows = 5_000;
const vacuumEveryMs = 10_000;
const fewPages = 64;

/** Vacuums when a fifth of the table has died since the last one; analyzes when its size has changed fourfold. */
export function chooseAction(state: TableState, last: LastVacuum, nowMs: number): VacuumAction {
  const died = state.deadRows - last.deadRows;
  const isDue = nowMs - last.vacuumedAtMs >= vacuumEveryMs;
  if (state.mayVacuum && isDue && died >= Math.max(fewDeadRows, state.liveRows / 5)) return "vacuum";
  // A plan made for few rows scans a large queue; new statistics cause a new plan.
  const hasGrown = state.pages > Math.max(fewPages, last.pages * 4);
  return hasGrown || state.pages < last.pages / 4 ? "analyze" : "none";
}

export class TableVacuum {
  readonly #options: { readonly db: Queryable; readonly logger: Logger };
  readonly #last = new Map<BusyTable, LastVacuum>();
  #hasWarned = false;

  constructor(options: { readonly db: Queryable; readonly logger: Logger }) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { db } = this.#options;
    for (const state of await tableStates(db)) {
      if (!state.mayVacuum) this.#warnOnce(state.table);
      const last = this.#last.get(state.table) ?? neverVacuumed;
      const action = chooseAction(state, last, performance.now());
      if (action === "vacuum") await this.#vacuum(state.table);
      if (action !== "analyze") continue;
      await analyze(db, state.table);
      this.#last.set(state.table, { ...last, pages: state.pages });
    }
  }

  async #vacuum(table: BusyTable): Promise<void> {
    const { db } = this.#options;
    await vacuum(db, table);
    const after = (await tableStates(db)).find((state) => state.table === table);
    this.#last.set(table, {
      pages: after?.pages ?? 0,
      deadRows: after?.deadRows ?? 0,
      vacuumedAtMs: performance.now(),
    });
  }

  #warnOnce(table: BusyTable): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const message = "this role does not own the tables and cannot vacuum them; only autovacuum runs";
    this.#options.logger.warn(message, { table });
  }
}
