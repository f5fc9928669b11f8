// Exports read the same pages as the lists, one after the other.
import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { RawJson } from "../../export-text.ts";
import { ExportHandler, type Handlers } from "../../implement.ts";
import { unchecked } from "../../input/names.ts";
import { redaction } from "../../principal.ts";
import { checkAction, withActor } from "../audit-log/operations.ts";

export function exportOperations({
  auditLog,
  deliveries,
  events,
}: Posthorn): Handlers<PosthornContract>["exports"] {
  return {
    events: new ExportHandler(({ query, principal }) =>
      pagesOf(
        (page) => events.list({ ...query, ...redaction(principal), ...page, outcomes: false }),
        ({ payload, ...event }) => ({ ...event, data: new RawJson(String(payload)) }),
      ),
    ),
    deliveries: new ExportHandler(({ query }) =>
      pagesOf((page) => deliveries.list(unchecked({ ...query, ...page })), asItIs),
    ),
    deadLetters: new ExportHandler(({ query }) =>
      pagesOf((page) => deliveries.list(unchecked({ ...query, state: "dead", ...page })), asItIs),
    ),
    attempts: new ExportHandler(({ query, principal }) =>
      pagesOf((page) => deliveries.attempts({ ...query, ...redaction(principal), ...page }), asItIs),
    ),
    auditLog: new ExportHandler(({ query, principal }) => {
      if (query.action !== undefined) checkAction(query.action);
      return pagesOf(
        (page) => auditLog.list({ ...query, ...page }),
        (entry) => withActor(entry, principal),
      );
    }),
  };
}

interface PageAsked {
  readonly limit: number;
  readonly cursor: string | undefined;
}

interface PageRead<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

const PAGE_LIMIT = 250;

async function* pagesOf<Item, Row>(
  read: (page: PageAsked) => Promise<PageRead<Item>>,
  rowOf: (item: Item) => Row,
): AsyncGenerator<readonly Row[], undefined> {
  let cursor: string | undefined;
  do {
    const { data, nextCursor } = await read({ limit: PAGE_LIMIT, cursor });
    yield data.map(rowOf);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function asItIs<Item>(item: Item): Item {
  return item;
}
