// `posthorn replay`: starts, schedules, lists and cancels replays.
import type { Replay, ReplayPreview } from "@posthorn/client";
import type { Command } from "commander";
import { poll } from "../follow/poll.ts";
import {
  addList,
  commandsOf,
  ENDPOINT_FILTER,
  knownWords,
  type Param,
  parseFutureTime,
  type Remote,
  TENANT_FILTER,
  TIME_FILTERS,
  type TimeFlags,
  timeFilters,
  wholeNumber,
  YES,
} from "../remote/remote.ts";
import { progressBar } from "../terminal/progress-bar.ts";
import type { Column } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

interface StartFlags extends TimeFlags {
  readonly tenant?: string;
  readonly endpoint?: string;
  readonly type?: string;
  readonly states?: string;
  readonly reason?: string;
  readonly rate?: string;
  readonly at?: string;
  readonly resubscribe?: boolean;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly yes?: boolean;
}

const STATES = ["success", "failed", "dead"] as const;
const POLL_INTERVAL_MS = 500;

const columns: readonly Column<Replay>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "STATE", value: ({ state }) => state },
  { title: "QUEUED", value: ({ done, total }) => (total === null ? done : `${done} of ${total}`) },
  { title: "DELIVERED", value: ({ outcomes }) => outcomes.delivered },
  { title: "DEAD", value: ({ outcomes }) => outcomes.dead },
  { title: "TENANT", value: ({ tenant }) => tenant ?? "all", canShrink: true },
  { title: "START", value: startText, canShrink: true },
];

const STATE_FILTER: Param = [
  "--state <state>",
  "only in this state",
  ["scheduled", "running", "finished", "cancelled"],
];
const REPLAY: Param = ["<replay>", "rpl_…"];

export function addReplay(program: Command, terminal: Terminal): void {
  const add = commandsOf(program.command("replay").description("deliver again by a filter"), terminal);
  add<StartFlags>(
    "start",
    "deliver again what a filter matches, and show the progress",
    [
      TENANT_FILTER,
      ENDPOINT_FILTER,
      ["--type <type>", "only events of this type"],
      ["--states <states>", `comma-separated: ${STATES.join(", ")} (default dead)`],
      ["--reason <reason>", "only dead letters with this reason"],
      ["--rate <number>", "deliveries per second (default 50)"],
      ["--at <time>", "start at this time, such as 2026-11-15T22:00:00Z, instead of now"],
      ["--resubscribe", "instead, create deliveries for events that match an endpoint now and have none"],
      ["--dry-run", "only count the deliveries"],
      ["--detach", "do not wait until it finishes"],
      YES,
      ...TIME_FILTERS,
    ],
    async (remote, _args, flags) => {
      const body = inputOf(remote, flags);
      if (flags.dryRun || !flags.yes) {
        const preview = await remote.client.replays.start({ body: { ...body, dry_run: true } });
        const { count, is_exact } = preview as ReplayPreview;
        const later = body.start_at === undefined ? "" : " if it started now";
        const many = `Deliveries to send again${later}: ${is_exact ? "" : "at least "}${count}.`;
        if (flags.dryRun) return remote.print(preview, () => many);
        await remote.confirm(many);
      }
      const started = (await remote.client.replays.start({ body })) as Replay;
      const isOver = flags.detach || started.state === "scheduled";
      remote.print(isOver ? started : await waitForEnd(remote, started), describeReplay);
    },
  );
  addList(add, ["list", "list replays, newest first"], [TENANT_FILTER, STATE_FILTER], ({ client }) => ({
    fetchPage: (query) => client.replays.list({ query }),
    columns,
    none: "There are no replays.",
  }));
  add("get", "show a replay", [REPLAY], async ({ client, print }, [replay]) => {
    print(await client.replays.get({ replay }), describeReplay);
  });
  add(
    "cancel",
    "cancel a replay that is scheduled or running",
    [REPLAY],
    async ({ client, print }, [replay]) => {
      print(await client.replays.cancel({ replay }), describeReplay);
    },
  );
}

function inputOf(remote: Remote, flags: StartFlags) {
  const { tenant, endpoint, type, states, reason, rate, at, resubscribe } = flags;
  return {
    tenant,
    endpoint,
    type,
    reason,
    resubscribe,
    ...(states !== undefined && { states: knownWords("--states", states, STATES) }),
    ...(rate !== undefined && { rate: wholeNumber("--rate", rate, 1, 5_000) }),
    ...(at !== undefined && { start_at: parseFutureTime("--at", at, remote.now()).toISOString() }),
    ...timeFilters(flags, remote.now()),
  };
}

/** Waits for the end, even across server restarts. Ctrl+C stops waiting, not the replay. */
async function waitForEnd({ client, terminal }: Remote, started: Replay): Promise<Replay> {
  const bar = progressBar(terminal, "Replaying");
  let replay = started;
  const pollOnce = async () => {
    replay = await client.replays.get({ replay: started.id });
    bar.update(replay.done, replay.total);
    return replay.state === "running" ? undefined : "done";
  };
  try {
    await poll(terminal, POLL_INTERVAL_MS, pollOnce, () => {});
  } finally {
    bar.end();
  }
  return replay;
}

/** When it started or will start. */
function startText({ started_at, start_at }: Replay): string {
  return timeText(started_at ?? start_at);
}

/** Why it was cancelled, if not by a request. */
const CANCELLED: Partial<Record<NonNullable<Replay["cancel_reason"]>, string>> = {
  key_revoked: "The key, token or portal link that scheduled it was revoked.",
  member_removed: "The member who scheduled it was removed.",
};

const OUTCOMES: Readonly<Record<keyof Replay["outcomes"], string>> = {
  delivered: "delivered",
  failed: "failed, to be retried",
  dead: "dead",
  waiting: "waiting",
  replayed_again: "queued again by a later replay",
  in_batches: "in batches",
};

/** `12 delivered, 3 waiting`; null if nothing was queued. */
function outcomesText(outcomes: Replay["outcomes"]): string | null {
  const parts = (Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[])
    .filter((outcome) => outcomes[outcome] > 0)
    .map((outcome) => `${outcomes[outcome]} ${OUTCOMES[outcome]}`);
  return parts.length === 0 ? null : `Outcomes: ${parts.join(", ")}.`;
}

export function describeReplay({
  id,
  state,
  done,
  total,
  skipped,
  outcomes,
  start_at,
  cancel_reason,
}: Replay): string {
  if (state === "scheduled")
    return `${clean(id)} starts at ${timeText(start_at)}. Cancel: posthorn replay cancel ${clean(id)}`;
  const left = Object.entries(skipped).map(([reason, count]) => `${count} skipped: ${clean(reason)}`);
  const of = total === null ? "" : ` of ${total}`;
  const lines = [`${clean(id)} is ${state}: ${done}${of} queued again.`, ...left];
  const became = outcomesText(outcomes);
  if (became !== null) lines.push(became);
  const reason = cancel_reason === null ? undefined : CANCELLED[cancel_reason];
  if (reason !== undefined) lines.push(reason);
  if (state === "running")
    lines.push(
      `Show the progress: posthorn replay get ${clean(id)}; cancel: posthorn replay cancel ${clean(id)}`,
    );
  else if (outcomes.waiting + outcomes.failed > 0)
    lines.push(`Show the outcomes later: posthorn replay get ${clean(id)}`);
  return lines.join("\n");
}
