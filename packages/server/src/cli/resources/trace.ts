// `posthorn trace`: shows what happened to an event, and what to do next.
import { type DeliveryDetail, type Endpoint, type EventDetail, PosthornApiError } from "@posthorn/client";
import { hostOf } from "@posthorn/wire";
import type { Command } from "commander";
import { usage } from "../failure.ts";
import { type Args, commandsOf, type Remote } from "../remote/remote.ts";
import { progressBar } from "../terminal/progress-bar.ts";
import { facts, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, timeText, toned } from "../terminal/text.ts";
import { adviceFor } from "../views/advice.ts";
import { cloudEventFacts } from "../views/cloud-event.ts";
import { attemptColumns, stateText, toneOfState, waitsForBatch } from "../views/delivery.ts";
import { explainNoDeliveries, explainNotMatched, nullIfRejected } from "../views/no-deliveries.ts";

interface TracedDelivery extends DeliveryDetail {
  /** Null if it was deleted, or the key may not read it. */
  readonly endpoint: Endpoint | null;
  readonly advice: string | null;
}

export function addTrace(program: Command, terminal: Terminal): void {
  const about = "show what happened to an event, and what to do next";
  commandsOf(program, terminal)("trace", about, [["<event>", "evt_…"]], trace);
}

async function trace(remote: Remote, [id]: Args): Promise<void> {
  const { terminal, isJson, client } = remote;
  const event = await client.events.get({ event: id }).catch((error: unknown) => {
    throw explainUnknownEvent(error, id);
  });
  const deliveries: TracedDelivery[] = [];
  const bar = progressBar(terminal, "Reading deliveries");
  try {
    for (const { id: delivery } of event.deliveries) {
      bar.update(deliveries.length, event.deliveries.length);
      deliveries.push(await traceDelivery(remote, delivery));
    }
  } finally {
    bar.end();
  }
  if (isJson) terminal.print(jsonText({ ...event, deliveries }));
  else terminal.print(await screen(remote, event, deliveries));
}

/** Users may pass the id of an order or invoice, which is usually the subject of its events. */
function explainUnknownEvent(error: unknown, id: string): unknown {
  const isUnknown = error instanceof PosthornApiError && error.code === "event_not_found";
  if (!isUnknown || id.startsWith("evt_")) return error;
  return usage(
    `${JSON.stringify(id)} is not an event id, which begins with evt_. Search by subject: posthorn events list --subject ${clean(id)}`,
  );
}

async function traceDelivery({ client }: Remote, id: string): Promise<TracedDelivery> {
  const delivery = await client.deliveries.get({ delivery: id });
  const { tenant, endpoint_id } = delivery;
  const endpoint = await client.endpoints.get({ tenant, endpoint: endpoint_id }).catch(nullIfRejected);
  return { ...delivery, endpoint, advice: adviceFor(delivery, endpoint) };
}

async function screen(
  remote: Remote,
  event: EventDetail,
  deliveries: readonly TracedDelivery[],
): Promise<string> {
  const { terminal, now } = remote;
  const about = facts(terminal, [
    ["event", event.id],
    ["type", event.type],
    ["tenant", event.tenant],
    ["subject", event.subject],
    ["published", timeText(event.created_at)],
    ...cloudEventFacts(event),
    ["data", shortened(JSON.stringify(event.data))],
  ]);
  const waiting = event.batches.filter(({ event_id }) => event_id === null).map(waitsForBatch);
  if (deliveries.length + waiting.length === 0)
    return [about, `It has no deliveries. ${await explainNoDeliveries(remote, event)}`].join("\n\n");
  const made = deliveries.map((delivery) => deliveryText(terminal, delivery, now()));
  const others = event.not_matched.map(explainNotMatched).join("\n");
  return [about, ...made, ...waiting, ...(others === "" ? [] : [others])].join("\n\n");
}

function deliveryText(terminal: Terminal, delivery: TracedDelivery, now: Date): string {
  const { endpoint, endpoint_name, endpoint_url } = delivery;
  const target = endpoint === null ? "a deleted endpoint" : clean(targetText(endpoint_name, endpoint_url));
  const state = toned(terminal, toneOfState(delivery.state), stateText(delivery, now));
  const attempts = delivery.attempts.length === 0 ? [] : [table(terminal, attemptColumns, delivery.attempts)];
  return [
    `${state}  ${target}`,
    toned(
      terminal,
      "quiet",
      `${clean(delivery.id)} to ${clean(delivery.endpoint_id)}${membersText(delivery)}`,
    ),
    ...attempts,
    ...(delivery.advice === null ? [] : [`→ ${clean(delivery.advice)}`]),
  ].join("\n");
}

/** The URL contains the name that follows from it. */
function targetText(name: string, url: string): string {
  return name === hostOf(url) ? url : `${name} (${url})`;
}

function membersText({ members }: TracedDelivery): string {
  return members === null ? "" : `, a batch of ${members.length}`;
}

const DATA_LENGTH = 200;

function shortened(text: string): string {
  return text.length > DATA_LENGTH ? `${text.slice(0, DATA_LENGTH)}…` : text;
}
