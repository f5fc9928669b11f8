// What operators see of sources, and how they continue one that has stopped.
import { PosthornError } from "../../errors.ts";
import type { Queryable } from "../../storage/database.ts";
import {
  listSources,
  readSource,
  type SourceStatusRow,
  skipHeldRow,
} from "../../storage/queries/sources/sources.ts";
import { toDate } from "../page.ts";

export interface SourceView extends Omit<SourceStatusRow, "lagMs" | "seenMs" | "cluster" | "skippedRow"> {
  /** Everything committed this long ago is stored. Null before everything was read once. */
  readonly lagSeconds: number | null;
  /** When a process last followed it. */
  readonly seenAt: Date | null;
}

export interface Sources {
  /** Every source that a process of this installation has followed, by name. */
  list(): Promise<SourceView[]>;
  /** Skips the row that holds the source, for good. The source continues within seconds. */
  skip(name: string): Promise<void>;
}

export function createSources(db: Queryable): Sources {
  return {
    async list() {
      return (await listSources(db)).map(toView);
    },
    async skip(name) {
      if ((await skipHeldRow(db, String(name))) > 0) return;
      if ((await readSource(db, String(name))) === null) throw sourceNotFound(name);
      throw new PosthornError("source_not_stopped", `No row holds the source "${name}".`);
    },
  };
}

function toView({ lagMs, seenMs, cluster: _, skippedRow: __, ...row }: SourceStatusRow): SourceView {
  return { ...row, lagSeconds: lagMs === null ? null : Math.round(lagMs) / 1_000, seenAt: toDate(seenMs) };
}

function sourceNotFound(name: unknown): PosthornError {
  return new PosthornError(
    "source_not_found",
    `There is no source "${String(name).slice(0, 60)}". "posthorn sources" lists them.`,
  );
}
