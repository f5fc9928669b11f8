// `posthorn events`: lists and shows events, and decides about those that the catalogue rejected.
import type { EventDetail, ListedEvent, RejectedCount } from "@posthorn/client";
import type { Command } from "commander";
import { readEvent } from "../follow/request.ts";
import { readData } from "../remote/data.ts";
import {
  type Args,
  addList,
  commandsOf,
  type Param,
  type Remote,
  required,
  TENANT_FILTER,
  TIME_FILTERS,
  type TimeFlags,
  timeFilters,
  YES,
} from "../remote/remote.ts";
import { repeat } from "../remote/repeat.ts";
import { type Column, facts, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, safeJson, type Tone, timeText } from "../terminal/text.ts";
import { cloudEventFacts } from "../views/cloud-event.ts";
import { deliveryColumns, waitsForBatch } from "../views/delivery.ts";
import { emptyListText, explainNotMatched, explainRejection } from "../views/no-deliveries.ts";

const EVENT: Param = ["<event>", "evt_…"];

const OUTCOME_TONES: Readonly<Record<string, Tone>> = { delivered: "good", failed: "warning", dead: "bad" };

const columns: readonly Column<ListedEvent>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "CREATED", value: ({ created_at }) => timeText(created_at) },
  { title: "TENANT", value: ({ tenant }) => tenant, canShrink: true },
  { title: "TYPE", value: ({ type }) => type, canShrink: true },
  { title: "SUBJECT", value: ({ subject }) => subject, canShrink: true },
  {
    title: "OUTCOME",
    value: (event) => outcomeText(event),
    tone: ({ outcome, rejection }) => OUTCOME_TONES[rejection ? "failed" : (outcome?.state ?? "")] ?? null,
  },
  { title: "REJECTED", value: ({ rejection }) => rejection?.message, canShrink: true },
];

/** `dead, 2 of 3 delivered`. */
export function outcomeText({ outcome, rejection }: Pick<ListedEvent, "outcome" | "rejection">): string {
  if (rejection !== null) return rejection.discarded_at === null ? "rejected" : "discarded";
  if (outcome === null) return "";
  const { state, delivered, deliveries } = outcome;
  if (deliveries === 0) return state === "unmatched" ? "no subscriber" : state;
  if (state === "delivered") return deliveries === 1 ? state : `delivered to ${deliveries}`;
  return deliveries === 1 ? state : `${state}, ${delivered} of ${deliveries} delivered`;
}

export function addEvents(program: Command, terminal: Terminal): void {
  const add = commandsOf(program.command("events").description("published events"), terminal);
  const filters = [
    TENANT_FILTER,
    ["--type <type>", "only of this type"],
    ["--subject <subject>", "only of this subject"],
    ["--state <state>", "only events that the catalogue rejected", ["rejected"]],
    ...TIME_FILTERS,
  ] as const;
  addList(add, ["list", "list events, newest first"], filters, (remote, { tenant }) => ({
    fetchPage: (query) => remote.client.events.list({ query }),
    columns,
    none: () => emptyListText(remote, tenant, "No events found."),
  }));
  add("get", "show an event and its deliveries", [EVENT], async (remote, [event]) => {
    const text = await remote.send(remote.contract.events.get, `/api/v1/events/${encodeURIComponent(event)}`);
    terminal.print(remote.isJson ? safeJson(text) : describe(terminal, text));
  });
  const editing = "send a copy with edited data to one endpoint; the event does not change";
  const editingFlags = [
    EVENT,
    required("--endpoint <endpoint>", "ep_…, an endpoint of the event's tenant"),
    required("--data <json>", "the edited data: JSON, @file, or - for standard input"),
  ] as const;
  add<{ endpoint: string; data: string }>(
    "resend-edited",
    editing,
    editingFlags,
    async ({ client, print }, [event], { endpoint, data }) => {
      const body = { endpoint, data_json: await readData(data, terminal) };
      const sent = await client.events.resendEdited({ event, body });
      print(sent, ({ event_id }) =>
        [`Sent ${clean(event_id)}.`, `Show the result with: posthorn trace ${clean(event_id)}`].join("\n"),
      );
    },
  );
  const releasing = "deliver an event that the catalogue rejected, as it is";
  add("release", releasing, [EVENT], async ({ client, print }, [event]) => {
    print(await client.events.release({ event }), ({ id }) =>
      [`${clean(id)} is released.`, `Follow it with: posthorn trace ${clean(id)}`].join("\n"),
    );
  });
  const discarding = "decide that a rejected event is not delivered";
  add("discard", discarding, [EVENT], async ({ client, print }, [event]) => {
    print(
      await client.events.discard({ event }),
      ({ id }) => `${clean(id)} is discarded. To deliver it after all: posthorn events release ${clean(id)}`,
    );
  });
  const ofFilter = [
    TENANT_FILTER,
    ["--type <type>", "only of this type"],
    ["--subject <subject>", "only of this subject"],
    ["--dry-run", "only count the events"],
    YES,
    ...TIME_FILTERS,
  ] as const;
  const releasingAll = "deliver the rejected events that a filter matches, as they are";
  add<RejectedFlags>("release-rejected", releasingAll, ofFilter, decideByFilter("release"));
  const discardingAll = "decide that the rejected events that a filter matches are not delivered";
  add<RejectedFlags>("discard-rejected", discardingAll, ofFilter, decideByFilter("discard"));
}

interface RejectedFlags extends TimeFlags {
  readonly tenant?: string;
  readonly type?: string;
  readonly subject?: string;
  readonly dryRun?: boolean;
}

/** Decides about what was counted: events that are rejected after the confirmation are left. */
function decideByFilter(verb: "release" | "discard") {
  return async (remote: Remote, _args: Args, flags: RejectedFlags): Promise<void> => {
    const { client, print } = remote;
    const { tenant, type, subject, dryRun } = flags;
    const filter = { tenant, type, subject, ...timeFilters(flags, remote.now()) };
    const decide = verb === "release" ? client.events.releaseRejected : client.events.discardRejected;
    const counted = (await decide({ body: { ...filter, dry_run: true } })) as RejectedCount;
    const { count, is_exact, rejected_before } = counted;
    const many = `Rejected events to ${verb}: ${is_exact ? "" : "at least "}${count}.`;
    if (dryRun) return print(counted, () => many);
    await remote.confirm(many);
    const done = `${verb}${verb === "release" ? "d" : "ed"}`;
    const decided = await repeat(remote, {
      doing: verb === "release" ? "Releasing" : "Discarding",
      expected: is_exact ? count : null,
      done: (number) => `${number} rejected events were ${done}`,
      async call(cursor) {
        const result = await decide({ body: { ...filter, rejected_before, ...cursor } });
        if ("released" in result) return { count: result.released, next: result.next_cursor };
        if ("discarded" in result) return { count: result.discarded, next: result.next_cursor };
        throw new Error("The server counted instead of deciding.");
      },
    });
    print({ [done]: decided }, () => `${decided} rejected events were ${done}.`);
  };
}

/** Prints the data unchanged, because parsing would change 1.0 and large integers. */
function describe(terminal: Terminal, text: string): string {
  const event = JSON.parse(text) as EventDetail;
  const { subject, sequence, deliveries } = event;
  const waiting = event.batches.filter(({ event_id }) => event_id === null);
  const deliveryTexts = [
    ...(deliveries.length === 0 ? [] : [table(terminal, deliveryColumns(new Date()), deliveries)]),
    ...waiting.map(waitsForBatch),
  ];
  return [
    facts(terminal, [
      ["id", event.id],
      ["tenant", event.tenant],
      ["type", event.type],
      ["api version", event.api_version],
      ["subject", sequence === null ? subject : `${subject} (sequence ${sequence})`],
      ...(event.edited_from === null ? [] : [["edited from", event.edited_from] as const]),
      ["created", timeText(event.created_at)],
      ...cloudEventFacts(event),
    ]),
    "",
    safeJson(Buffer.from(readEvent(text).payload).toString("utf8")),
    "",
    ...(deliveryTexts.length === 0 ? ["It has no deliveries."] : deliveryTexts),
    ...(event.rejection === null
      ? event.not_matched.map(explainNotMatched)
      : [explainRejection(event, event.rejection)]),
  ].join("\n");
}
