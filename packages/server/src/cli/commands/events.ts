// `posthorn events`: what was published.
import type { Event } from "@posthorn/client";
import type { Command } from "commander";
import {
  listOptions,
  type PageFlags,
  remote,
  show,
  showList,
  type TimeFlags,
  timeFilters,
  timeOptions,
} from "../remote/remote.ts";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText, timeText } from "../terminal/text.ts";
import { deliveryTable } from "../views/delivery.ts";

interface ListFlags extends PageFlags, TimeFlags {
  readonly tenant?: string;
  readonly type?: string;
  readonly subject?: string;
}

const columns: readonly Column<Event>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "CREATED", value: ({ created_at }) => timeText(created_at) },
  { title: "TENANT", value: ({ tenant }) => tenant, gives: true },
  { title: "TYPE", value: ({ type }) => type, gives: true },
  { title: "SUBJECT", value: ({ subject }) => subject, gives: true },
];

export function addEvents(program: Command, terminal: Terminal): void {
  const events = program.command("events").description("events that were published");
  const list = events
    .command("list")
    .description("list events, newest first")
    .option("--tenant <tenant>", "of this tenant")
    .option("--type <type>", "of this type")
    .option("--subject <subject>", "about this subject");
  remote<ListFlags>(listOptions(timeOptions(list)), terminal, async (remote, _args, flags) => {
    const { tenant, type, subject } = flags;
    const filters = { tenant, type, subject, ...timeFilters(flags, remote.now()) };
    const fetchPage = (page: object) => remote.client.events.list({ query: { ...filters, ...page } });
    await showList(remote, flags, fetchPage, { columns, none: "There are no such events." });
  });
  const get = events
    .command("get")
    .description("show an event and its deliveries")
    .argument("<event>", "evt_…");
  remote(get, terminal, async (remote, [event = ""]) => {
    show(remote, await remote.client.events.get({ event }), (found) =>
      [
        facts(terminal, [
          ["id", found.id],
          ["tenant", found.tenant],
          ["type", found.type],
          ["api version", found.api_version],
          [
            "subject",
            found.sequence === null ? found.subject : `${found.subject} (number ${found.sequence})`,
          ],
          ["created", timeText(found.created_at)],
        ]),
        "",
        jsonText(found.data),
        "",
        found.deliveries.length === 0
          ? "No delivery was made for it."
          : deliveryTable(terminal, found.deliveries),
      ].join("\n"),
    );
  });
}
