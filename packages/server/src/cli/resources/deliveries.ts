// `posthorn deliveries`, and its shortcut `posthorn retry`.
import type { Delivery, DeliveryDetail } from "@posthorn/client";
import { type Command, Option } from "commander";
import { confirm } from "../remote/confirm.ts";
import {
  type EmptyText,
  listOptions,
  type PageFlags,
  printList,
  printResult,
  type Remote,
  remote,
  type TimeFlags,
  timeFilters,
  timeOptions,
} from "../remote/remote.ts";
import { facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";
import { attemptTable, deliveryColumns, stateText } from "../views/delivery.ts";
import { Holds, pauseText } from "../views/hold.ts";
import { emptyListText, nullIfRejected } from "../views/no-deliveries.ts";

interface ListFlags extends PageFlags, TimeFlags {
  readonly tenant?: string;
  readonly endpoint?: string;
  readonly state?: DeliveryDetail["state"];
  readonly type?: string;
  readonly reason?: string;
}

const STATES = ["pending", "in_flight", "success", "failed", "dead"];

export function addDeliveries(program: Command, terminal: Terminal): void {
  const deliveries = program.command("deliveries").description("deliveries and their attempts");
  const list = deliveries
    .command("list")
    .description("list deliveries, newest first")
    .option("--tenant <tenant>", "only of this tenant")
    .option("--endpoint <endpoint>", "only to this endpoint")
    .addOption(new Option("--state <state>", "only in this state").choices(STATES))
    .option("--type <type>", "only events of this type")
    .option("--reason <reason>", "only dead letters with this reason");
  remote<ListFlags>(listOptions(timeOptions(list)), terminal, async (remote, _args, flags) => {
    const { tenant, endpoint, state, type, reason } = flags;
    const filters = { tenant, endpoint, state, type, reason, ...timeFilters(flags, remote.now()) };
    const fetchPage = (page: object) => remote.client.deliveries.list({ query: { ...filters, ...page } });
    const none = () => emptyListText(remote, tenant, "No deliveries found.");
    await showDeliveries(remote, flags, fetchPage, none);
  });
  const get = deliveries
    .command("get")
    .description("show a delivery and its attempts")
    .argument("<delivery>", "dlv_…");
  remote(get, terminal, async (remote, [delivery = ""]) => {
    const found = await remote.client.deliveries.get({ delivery });
    const holds = new Holds(remote);
    if (!remote.isJson) await holds.load([found]);
    printResult(remote, found, () => describe(remote, found, holds.of(found)));
  });
  const queue = deliveries
    .command("retry-queue")
    .description("list failed deliveries by their next attempt")
    .option("--tenant <tenant>", "only of this tenant")
    .option("--endpoint <endpoint>", "only to this endpoint");
  remote<ListFlags>(listOptions(queue), terminal, async (remote, _args, flags) => {
    const { tenant, endpoint } = flags;
    const fetchPage = (page: object) =>
      remote.client.deliveries.retryQueue({ query: { tenant, endpoint, ...page } });
    await showDeliveries(remote, flags, fetchPage, "The retry queue is empty.");
  });
  const cancel = deliveries
    .command("cancel")
    .description("cancel a delivery; it becomes dead with the reason cancelled")
    .argument("<delivery>", "dlv_…");
  remote(cancel, terminal, async (remote, [delivery = ""]) => {
    printResult(
      remote,
      await remote.client.deliveries.cancel({ delivery }),
      ({ id }) => `${clean(id)} is cancelled.`,
    );
  });
  const remove = deliveries
    .command("delete")
    .description("delete a dead letter permanently")
    .argument("<delivery>", "dlv_…")
    .option("--yes", "skip the confirmation");
  remote<{ yes?: boolean }>(remove, terminal, async (remote, [delivery = ""], { yes }) => {
    await confirm(terminal, `This deletes the dead letter ${delivery} and its attempts.`, yes);
    await remote.client.deliveries.delete({ delivery });
    printResult(remote, { id: delivery, deleted: true }, () => `${clean(delivery)} is deleted.`);
  });
  for (const parent of [deliveries, program]) {
    const command = parent.command("retry").description("retry a delivery now");
    remote(command.argument("<delivery>", "dlv_…"), terminal, retry);
  }
}

async function retry(remote: Remote, [delivery = ""]: readonly string[]): Promise<void> {
  const retried = await remote.client.deliveries.retry({ delivery });
  const { tenant, endpoint_id: endpoint } = retried;
  const known = remote.isJson
    ? null
    : await remote.client.endpoints.get({ tenant, endpoint }).catch(nullIfRejected);
  const pause = known && pauseText(known, remote.now());
  const what =
    pause === null ? "is due now and will be sent by the next free worker" : `will be retried; ${pause}`;
  printResult(remote, retried, ({ id, event_id }) =>
    [`${clean(id)} ${what}.`, `Follow it with: posthorn trace ${clean(event_id)}`].join("\n"),
  );
}

async function showDeliveries(
  remote: Remote,
  flags: PageFlags,
  fetchPage: (page: object) => Promise<{ data: readonly Delivery[]; next_cursor: string | null }>,
  none: string | EmptyText,
): Promise<void> {
  const holds = new Holds(remote);
  const fetchWithHolds = async (page: object) => {
    const fetched = await fetchPage(page);
    if (!remote.isJson) await holds.load(fetched.data);
    return fetched;
  };
  const columns = deliveryColumns(remote.now(), (delivery) => holds.of(delivery));
  await printList(remote, flags, fetchWithHolds, { columns, none });
}

function describe({ terminal, now }: Remote, delivery: DeliveryDetail, hold: string | null): string {
  return [
    facts(terminal, [
      ["id", delivery.id],
      ["event", `${delivery.event_id} (${delivery.event_type})`],
      ["endpoint", delivery.endpoint_id],
      ["tenant", delivery.tenant],
      ["state", stateText(delivery, now(), hold)],
      ["created", timeText(delivery.created_at)],
      delivery.dead_at === null
        ? ["delivered", timeText(delivery.delivered_at)]
        : ["dead since", timeText(delivery.dead_at)],
      ...(delivery.members === null ? [] : [["events", delivery.members.join(" ")] as [string, unknown]]),
    ]),
    "",
    delivery.attempts.length === 0 ? "No attempts yet." : attemptTable(terminal, delivery.attempts),
  ].join("\n");
}
