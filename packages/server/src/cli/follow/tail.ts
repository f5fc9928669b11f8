// `posthorn tail`: prints events, deliveries and resends as they happen.
import type { Delivery, Event, Resend } from "@posthorn/client";
import { type Command, Option } from "commander";
import { commandsOf, type Remote, TENANT_FILTER, wholeNumber } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, timeText, toned } from "../terminal/text.ts";
import { stateText, toneOfState } from "../views/delivery.ts";
import { Follower } from "./follower.ts";
import { poll, reportSkipped } from "./poll.ts";
import { deliverySource, eventSource, resendSource, startOf } from "./sources.ts";

interface TailFlags {
  readonly tenant?: string;
  readonly type?: string;
  readonly since?: string;
  readonly every: string;
}

export function addTail(program: Command, terminal: Terminal): void {
  commandsOf(program, terminal)<TailFlags>(
    "tail",
    "follow events and deliveries live, even across server restarts",
    [
      TENANT_FILTER,
      ["--type <type>", "only of this type"],
      ["--since <time>", "begin with events since this time: 10m, 2h, or a timestamp"],
      new Option("--every <ms>", "poll interval in milliseconds").default("1000"),
    ],
    tail,
  );
}

type Line = { readonly json: object; readonly text: string };

async function tail(remote: Remote, _args: readonly string[], flags: TailFlags): Promise<void> {
  const everyMs = wholeNumber("--every", flags.every, 50, 60_000);
  const filter = { tenant: flags.tenant, type: flags.type };
  const start = await startOf(remote, filter, flags.since);
  const events = new Follower(eventSource(remote, filter), start);
  const deliveries = new Follower(deliverySource(remote, filter), start);
  const resends = new Follower(resendSource(remote, filter), start);
  const { terminal, isJson } = remote;

  const pollOnce = async (): Promise<void> => {
    const lines = [
      // Deliveries are read after events, so that none is printed before its event.
      ...(await events.poll()).map((event) => eventLine(terminal, event)),
      ...(await resends.poll()).map((resend) => resendLine(terminal, resend)),
      ...deliveryLines(remote, await deliveries.poll()),
    ];
    for (const { json, text } of lines) terminal.print(isJson ? jsonText(json, 0) : text);
    reportSkipped(terminal, [events, deliveries, resends]);
  };
  await poll(terminal, everyMs, pollOnce, () => terminal.printError("Following. Ctrl+C stops."));
}

function eventLine(terminal: Terminal, event: Event): Line {
  const { id, tenant, type, subject, created_at } = event;
  const about = subject === null ? "" : ` about ${clean(subject)}`;
  const text = `${quietTime(terminal, created_at)}  event    ${clean(id)}  ${clean(tenant)}  ${toned(terminal, "strong", clean(type))}${about}`;
  return { json: { kind: "event", ...event }, text };
}

/** Lines for deliveries that were attempted or wait for something; others are printed after their first attempt. */
function deliveryLines(remote: Remote, deliveries: readonly Delivery[]): Line[] {
  return deliveries
    .filter(({ state, attempt_count, waits_for }) =>
      waits_for === null ? state !== "in_flight" && attempt_count > 0 : true,
    )
    .map((delivery) => deliveryLine(remote, delivery));
}

function deliveryLine({ terminal, now }: Remote, delivery: Delivery): Line {
  const { id, tenant, event_type, endpoint_id, state, attempt_count, created_at } = delivery;
  const at = delivery.delivered_at ?? delivery.dead_at ?? created_at;
  const shown = toned(terminal, toneOfState(state), stateText(delivery, now()));
  const attempts = `${attempt_count} ${attempt_count === 1 ? "attempt" : "attempts"}`;
  const text = `${quietTime(terminal, at)}  delivery ${clean(id)}  ${clean(tenant)}  ${clean(event_type)} to ${clean(endpoint_id)}: ${shown}, ${attempts}`;
  return { json: { kind: "delivery", ...delivery }, text };
}

function resendLine(terminal: Terminal, resend: Resend): Line {
  const { delivery_id, tenant, event_type, trigger, resent_at } = resend;
  const text = `${quietTime(terminal, resent_at)}  resent   ${clean(delivery_id)}  ${clean(tenant)}  ${clean(event_type)} (${clean(trigger)})`;
  return { json: { kind: "resend", ...resend }, text };
}

function quietTime(terminal: Terminal, time: string): string {
  return toned(terminal, "quiet", timeText(time).slice(11));
}
