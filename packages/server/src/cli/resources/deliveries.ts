// `posthorn deliveries`, and its shortcut `posthorn retry`.
import type { DeadLetterCount, DeletedDeadLetters, DeliveryDetail } from "@posthorn/client";
import type { Command } from "commander";
import {
  type Args,
  addList,
  commandsOf,
  ENDPOINT_FILTER,
  type Param,
  type Remote,
  TENANT_FILTER,
  TIME_FILTERS,
  type TimeFlags,
  timeFilters,
  YES,
} from "../remote/remote.ts";
import { repeat } from "../remote/repeat.ts";
import { facts, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";
import { attemptColumns, deliveryColumns, retriedText, stateText } from "../views/delivery.ts";
import { emptyListText } from "../views/no-deliveries.ts";

const DELIVERY: Param = ["<delivery>", "dlv_…"];
const STATES = ["pending", "in_flight", "success", "failed", "dead"];

export function addDeliveries(program: Command, terminal: Terminal): void {
  const deliveries = program.command("deliveries").description("deliveries and their attempts");
  const add = commandsOf(deliveries, terminal);
  const filters = [
    TENANT_FILTER,
    ENDPOINT_FILTER,
    ["--state <state>", "only in this state", STATES],
    ["--type <type>", "only events of this type"],
    ["--reason <reason>", "only dead letters with this reason"],
    ...TIME_FILTERS,
  ] as const;
  addList(add, ["list", "list deliveries, newest first"], filters, (remote, { tenant }) => ({
    fetchPage: (query: never) => remote.client.deliveries.list({ query }),
    columns: deliveryColumns(remote.now()),
    none: () => emptyListText(remote, tenant, "No deliveries found."),
  }));
  add("get", "show a delivery and its attempts", [DELIVERY], async (remote, [delivery]) => {
    const found = await remote.client.deliveries.get({ delivery });
    remote.print(found, () => describe(remote, found));
  });
  const queue = ["retry-queue", "list failed deliveries by the time of their retry"] as const;
  addList(add, queue, [TENANT_FILTER, ENDPOINT_FILTER], (remote) => ({
    fetchPage: (query: never) => remote.client.deliveries.retryQueue({ query }),
    columns: deliveryColumns(remote.now()),
    none: "The retry queue is empty.",
  }));
  const cancelling = "cancel a delivery; it becomes dead with the reason cancelled";
  add("cancel", cancelling, [DELIVERY], async ({ client, print }, [delivery]) => {
    print(await client.deliveries.cancel({ delivery }), ({ id }) => `${clean(id)} is cancelled.`);
  });
  add("delete", "delete a dead letter permanently", [DELIVERY, YES], async (remote, [delivery]) => {
    await remote.confirm(`This deletes the dead letter ${delivery} and its attempts.`);
    await remote.client.deliveries.delete({ delivery });
    remote.print({ id: delivery, deleted: true }, () => `${clean(delivery)} is deleted.`);
  });
  add<DeletionFlags>(
    "delete-dead",
    "delete the dead letters that a filter matches permanently",
    [
      TENANT_FILTER,
      ENDPOINT_FILTER,
      ["--type <type>", "only events of this type"],
      ["--reason <reason>", "only dead letters with this reason"],
      ["--dry-run", "only count the dead letters"],
      YES,
      ...TIME_FILTERS,
    ],
    deleteDead,
  );
  for (const parent of [deliveries, program])
    commandsOf(parent, terminal)("retry", "retry a delivery now", [DELIVERY], retry);
}

interface DeletionFlags extends TimeFlags {
  readonly tenant?: string;
  readonly endpoint?: string;
  readonly type?: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

/** Deletes what was counted: dead letters that die after the confirmation are kept. */
async function deleteDead(remote: Remote, _args: Args, flags: DeletionFlags): Promise<void> {
  const { client, print } = remote;
  const { tenant, endpoint, type, reason, dryRun } = flags;
  const filter = { tenant, endpoint, type, reason, ...timeFilters(flags, remote.now()) };
  const counted = (await client.deliveries.deleteDead({
    body: { ...filter, dry_run: true },
  })) as DeadLetterCount;
  const { count, is_exact, dead_before } = counted;
  const many = `Dead letters to delete permanently: ${is_exact ? "" : "at least "}${count}.`;
  if (dryRun) return print(counted, () => many);
  await remote.confirm(many);
  const deleted = await repeat(remote, {
    doing: "Deleting",
    expected: is_exact ? count : null,
    done: (number) => `${number} dead letters were deleted`,
    async call(cursor) {
      const body = { ...filter, dead_before, ...cursor };
      const result = (await client.deliveries.deleteDead({ body })) as DeletedDeadLetters;
      return { count: result.deleted, next: result.next_cursor };
    },
  });
  print({ deleted }, () => `${deleted} dead letters were deleted.`);
}

async function retry(remote: Remote, [delivery]: Args): Promise<void> {
  const retried = await remote.client.deliveries.retry({ delivery });
  remote.print(retried, (delivery) =>
    [
      `${clean(delivery.id)} ${retriedText(delivery, remote.now())}.`,
      `Follow it with: posthorn trace ${clean(delivery.event_id)}`,
    ].join("\n"),
  );
}

function describe({ terminal, now }: Remote, delivery: DeliveryDetail): string {
  return [
    facts(terminal, [
      ["id", delivery.id],
      ["event", `${delivery.event_id} (${delivery.event_type})`],
      ...(delivery.edited_from === null ? [] : [["edited from", delivery.edited_from] as const]),
      ["endpoint", `${delivery.endpoint_id} (${delivery.endpoint_name})`],
      ["tenant", delivery.tenant],
      ["state", stateText(delivery, now())],
      ["created", timeText(delivery.created_at)],
      delivery.dead_at === null
        ? ["delivered", timeText(delivery.delivered_at)]
        : ["dead since", timeText(delivery.dead_at)],
      ...(delivery.members === null ? [] : [["events", delivery.members.join(" ")] as [string, unknown]]),
    ]),
    "",
    delivery.attempts.length === 0 ? "No attempts yet." : table(terminal, attemptColumns, delivery.attempts),
  ].join("\n");
}
