// `posthorn events`: lists and shows events.
import { contract, type Event, type EventDetail } from "@posthorn/client";
import type { Command } from "commander";
import { readEvent } from "../follow/request.ts";
import {
  listOptions,
  type PageFlags,
  printList,
  remote,
  type TimeFlags,
  timeFilters,
  timeOptions,
} from "../remote/remote.ts";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { safeJson, timeText } from "../terminal/text.ts";
import { cloudEventFacts } from "../views/cloud-event.ts";
import { deliveryTable, waitsForBatch } from "../views/delivery.ts";
import { emptyListText, explainNotMatched } from "../views/no-deliveries.ts";

interface ListFlags extends PageFlags, TimeFlags {
  readonly tenant?: string;
  readonly type?: string;
  readonly subject?: string;
}

const columns: readonly Column<Event>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "CREATED", value: ({ created_at }) => timeText(created_at) },
  { title: "TENANT", value: ({ tenant }) => tenant, canShrink: true },
  { title: "TYPE", value: ({ type }) => type, canShrink: true },
  { title: "SUBJECT", value: ({ subject }) => subject, canShrink: true },
];

export function addEvents(program: Command, terminal: Terminal): void {
  const events = program.command("events").description("published events");
  const list = events
    .command("list")
    .description("list events, newest first")
    .option("--tenant <tenant>", "only of this tenant")
    .option("--type <type>", "only of this type")
    .option("--subject <subject>", "only of this subject");
  remote<ListFlags>(listOptions(timeOptions(list)), terminal, async (remote, _args, flags) => {
    const { tenant, type, subject } = flags;
    const filters = { tenant, type, subject, ...timeFilters(flags, remote.now()) };
    const fetchPage = (page: object) => remote.client.events.list({ query: { ...filters, ...page } });
    const none = () => emptyListText(remote, tenant, "No events found.");
    await printList(remote, flags, fetchPage, { columns, none });
  });
  const get = events
    .command("get")
    .description("show an event and its deliveries")
    .argument("<event>", "evt_…");
  remote(get, terminal, async (remote, [event = ""]) => {
    const text = await remote.send(contract.events.get, `/api/v1/events/${encodeURIComponent(event)}`);
    terminal.print(remote.isJson ? safeJson(text) : describe(terminal, text));
  });
}

/** Prints the data unchanged, because parsing would change 1.0 and large integers. */
function describe(terminal: Terminal, text: string): string {
  const event = JSON.parse(text) as EventDetail;
  const { subject, sequence, deliveries } = event;
  const waiting = event.batches.filter(({ event_id }) => event_id === null);
  const deliveryTexts = [
    ...(deliveries.length === 0 ? [] : [deliveryTable(terminal, deliveries)]),
    ...waiting.map(waitsForBatch),
  ];
  return [
    facts(terminal, [
      ["id", event.id],
      ["tenant", event.tenant],
      ["type", event.type],
      ["api version", event.api_version],
      ["subject", sequence === null ? subject : `${subject} (sequence ${sequence})`],
      ["created", timeText(event.created_at)],
      ...cloudEventFacts(event),
    ]),
    "",
    safeJson(Buffer.from(readEvent(text).payload).toString("utf8")),
    "",
    ...(deliveryTexts.length === 0 ? ["It has no deliveries."] : deliveryTexts),
    ...event.not_matched.map(explainNotMatched),
  ].join("\n");
}
