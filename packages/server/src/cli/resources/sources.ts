// `posthorn sources`: outbox tables and messages of PostgreSQL databases that are published.
import type { Source } from "@posthorn/client";
import type { Command } from "commander";
import { commandsOf, type Param, type Remote, YES } from "../remote/remote.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

const columns: readonly Column<Source>[] = [
  { title: "SOURCE", value: ({ name }) => name },
  { title: "KIND", value: ({ kind }) => kind },
  {
    title: "STATE",
    value: ({ state }) => state,
    tone: ({ state }) => (state === "running" ? "good" : state === "starting" ? null : "bad"),
  },
  { title: "EVENTS", value: ({ events }) => events },
  { title: "LAG S", value: ({ lag_seconds }) => lag_seconds?.toFixed(1) },
  { title: "LAG BYTES", value: ({ lag_bytes }) => lag_bytes },
  { title: "LAST SEEN", value: ({ seen_at }) => timeText(seen_at) },
  { title: "ROW", value: ({ held_row }) => held_row, canShrink: true },
  { title: "ERROR", value: ({ error }) => error, canShrink: true },
];

const SOURCE: Param = ["<source>", "name of the source"];

export function addSources(program: Command, terminal: Terminal): void {
  const sources = program.command("sources").description("outbox tables and messages that are published");
  const add = commandsOf(sources, terminal);
  add("list", "list the sources with their state and lag", [], async ({ client, print }) => {
    print(await client.sources.list(), ({ data }) =>
      data.length === 0 ? "There are no sources." : table(terminal, columns, data),
    );
  });
  add("skip", "skip the row that holds a source, for good", [SOURCE, YES], async (remote, [source]) => {
    const held = (await remote.client.sources.list()).data.find(({ name }) => name === source);
    const row = held?.held_row ?? "that holds it";
    await remote.confirm(`This never publishes the row ${row} of ${source}.`);
    await remote.client.sources.skip({ source });
    report(
      remote,
      { name: source, skipped: row },
      `The row ${row} is skipped; the source continues within seconds.`,
    );
  });
  add("reset", "let a lost source continue", [SOURCE, YES], async (remote, [source]) => {
    await remote.confirm(`Rows of ${source} that its slot does not have are not published.`);
    await remote.client.sources.reset({ source });
    report(remote, { name: source, reset: true }, `${source} continues within seconds.`);
  });
  add("delete", "delete a source that is no longer configured", [SOURCE, YES], async (remote, [source]) => {
    await remote.confirm(`This deletes ${source} with its position.`);
    await remote.client.sources.delete({ source });
    report(remote, { name: source, deleted: true }, `${source} is deleted.`);
  });
}

function report(remote: Remote, result: object, text: string): void {
  remote.print(result, () => clean(text));
}
