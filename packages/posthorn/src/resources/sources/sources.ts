// What operators see of sources, and how they continue one that has stopped.
import { PosthornError } from "../../errors.ts";
import type { Queryable } from "../../storage/database.ts";
import {
  deleteSource,
  listSources,
  readSource,
  resetSource,
  type SourceStatusRow,
  skipHeldRow,
} from "../../storage/queries/sources/sources.ts";
import { toDate } from "../page.ts";

export interface SourceView extends Omit<SourceStatusRow, "lagMs" | "seenMs" | "cluster"> {
  /** Everything committed this long ago is stored. Null before everything was read once. */
  readonly lagSeconds: number | null;
  /** When a process last followed it. */
  readonly seenAt: Date | null;
}

export interface Sources {
  /** Every source that a process of this installation has followed, by name. */
  list(): Promise<SourceView[]>;
  /** Skips the row that holds the source, for good. The source continues within a second. */
  skip(name: string): Promise<void>;
  /** Lets a lost source continue, with a new slot if there is none. Rows that the slot does not have are not published. */
  reset(name: string): Promise<void>;
  /** Deletes a source that is no longer configured, with its position. */
  delete(name: string): Promise<void>;
}

export function createSources(db: Queryable): Sources {
  return {
    async list() {
      return (await listSources(db)).map(toView);
    },
    async skip(name) {
      if ((await skipHeldRow(db, String(name))) === 0) await refuse(name, "No row holds the source");
    },
    async reset(name) {
      if ((await resetSource(db, String(name))) === 0) await refuse(name, "The source is not lost");
    },
    async delete(name) {
      if ((await deleteSource(db, String(name))) === 0)
        await refuse(
          name,
          "A process has followed the source within the last minute; remove it from the configuration first",
        );
    },
  };

  async function refuse(name: unknown, reason: string): Promise<never> {
    if ((await readSource(db, String(name))) !== null)
      throw new PosthornError("source_not_stopped", `${reason}: "${String(name)}".`);
    const shown = String(name).slice(0, 60);
    const message = `There is no source "${shown}". "posthorn sources list" shows all.`;
    throw new PosthornError("source_not_found", message);
  }
}

function toView({ lagMs, seenMs, cluster: _, ...row }: SourceStatusRow): SourceView {
  return { ...row, lagSeconds: lagMs === null ? null : Math.round(lagMs) / 1_000, seenAt: toDate(seenMs) };
}
