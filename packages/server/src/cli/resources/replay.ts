// `posthorn replay`: starts, lists and cancels replays.
import type { Replay, ReplayPreview } from "@posthorn/client";
import type { Command } from "commander";
import { usage } from "../failure.ts";
import { poll } from "../follow/poll.ts";
import { confirm } from "../remote/confirm.ts";
import {
  listOptions,
  type PageFlags,
  printList,
  printResult,
  type Remote,
  remote,
  splitList,
  type TimeFlags,
  timeFilters,
  timeOptions,
  wholeNumber,
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
  readonly resubscribe?: boolean;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly yes?: boolean;
}

type State = NonNullable<Replay["states"]>[number];
const STATES: readonly string[] = ["success", "failed", "dead"] satisfies State[];
const POLL_INTERVAL_MS = 500;

const columns: readonly Column<Replay>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "STATE", value: ({ state }) => state },
  { title: "DONE", value: ({ done, total }) => (total === null ? done : `${done} of ${total}`) },
  { title: "TENANT", value: ({ tenant }) => tenant ?? "all", canShrink: true },
  { title: "STARTED", value: ({ created_at }) => timeText(created_at), canShrink: true },
];

export function addReplay(program: Command, terminal: Terminal): void {
  const replay = program.command("replay").description("deliver again by a filter");
  const start = replay
    .command("start")
    .description("deliver again what a filter matches, and show the progress")
    .option("--tenant <tenant>", "only of this tenant")
    .option("--endpoint <endpoint>", "only to this endpoint")
    .option("--type <type>", "only events of this type")
    .option("--states <states>", `comma-separated: ${STATES.join(", ")} (default dead)`)
    .option("--reason <reason>", "only dead letters with this reason")
    .option("--rate <number>", "deliveries per second (default 50)")
    .option("--resubscribe", "also create deliveries for events that match an endpoint now")
    .option("--dry-run", "only count the deliveries")
    .option("--detach", "do not wait for the end")
    .option("--yes", "skip the confirmation");
  remote<StartFlags>(timeOptions(start), terminal, async (remote, _args, flags) => {
    const body = inputOf(remote, flags);
    if (flags.dryRun || !flags.yes) {
      const preview = await remote.client.replays.start({ body: { ...body, dry_run: true } });
      const { count, is_exact } = preview as ReplayPreview;
      const many = `${is_exact ? "" : "at least "}${count}`;
      if (flags.dryRun) return printResult(remote, preview, () => `Deliveries to send again: ${many}.`);
      await confirm(terminal, `Deliveries to send again: ${many}.`, flags.yes);
    }
    const started = (await remote.client.replays.start({ body })) as Replay;
    const ended = flags.detach ? started : await waitForEnd(remote, started);
    printResult(remote, ended, describe);
  });
  const list = replay
    .command("list")
    .description("list replays, newest first")
    .option("--tenant <tenant>", "only of this tenant");
  remote<PageFlags & { tenant?: string }>(listOptions(list), terminal, async (remote, _args, flags) => {
    const { tenant } = flags;
    const fetchPage = (page: object) => remote.client.replays.list({ query: { tenant, ...page } });
    await printList(remote, flags, fetchPage, { columns, none: "There are no replays." });
  });
  const get = replay.command("get").description("show a replay").argument("<replay>", "rpl_…");
  remote(get, terminal, async (remote, [id = ""]) => {
    printResult(remote, await remote.client.replays.get({ replay: id }), describe);
  });
  const cancel = replay.command("cancel").description("cancel a replay").argument("<replay>", "rpl_…");
  remote(cancel, terminal, async (remote, [id = ""]) => {
    printResult(remote, await remote.client.replays.cancel({ replay: id }), describe);
  });
}

function inputOf(remote: Remote, flags: StartFlags) {
  const { tenant, endpoint, type, states, reason, rate, resubscribe } = flags;
  return {
    tenant,
    endpoint,
    type,
    reason,
    resubscribe,
    ...(states !== undefined && { states: statesOf(states) }),
    ...(rate !== undefined && { rate: wholeNumber("--rate", rate, 1, 5_000) }),
    ...timeFilters(flags, remote.now()),
  };
}

function statesOf(text: string): State[] {
  const given = splitList(text);
  const wrong = given.find((state) => !STATES.includes(state));
  if (wrong === undefined && given.length > 0) return given as State[];
  throw usage(`--states has "${wrong ?? ""}"; choose from ${STATES.join(", ")}.`);
}

/** Waits for the end, also across restarts of the server. Ctrl+C stops waiting, not the replay. */
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

function describe({ id, state, done, total, skipped }: Replay): string {
  const left = Object.entries(skipped).map(([reason, count]) => `${count} skipped: ${clean(reason)}`);
  const of = total === null ? "" : ` of ${total}`;
  const lines = [`${clean(id)} is ${state}: ${done}${of} sent again.`, ...left];
  if (state === "running")
    lines.push(
      `Show the progress: posthorn replay get ${clean(id)}; cancel: posthorn replay cancel ${clean(id)}`,
    );
  return lines.join("\n");
}
