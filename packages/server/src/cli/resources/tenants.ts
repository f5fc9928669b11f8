// `posthorn tenants`: manages tenants.
import type { Tenant } from "@posthorn/client";
import { type Command, Option } from "commander";
import { confirm } from "../remote/confirm.ts";
import {
  listOptions,
  type PageFlags,
  printList,
  printNote,
  printResult,
  remote,
  splitList,
} from "../remote/remote.ts";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

const columns: readonly Column<Tenant>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name, canShrink: true },
  { title: "ACTIVE", value: ({ is_active }) => (is_active ? "yes" : "no") },
  { title: "WEBSUB TOPICS", value: ({ websub_topics }) => websub_topics.join(" "), canShrink: true },
  { title: "CREATED", value: ({ created_at }) => timeText(created_at) },
];

export function addTenants(program: Command, terminal: Terminal): void {
  const tenants = program.command("tenants").description("tenants");
  const describe = (tenant: Tenant): string =>
    facts(
      terminal,
      columns.map(({ title, value }) => [title.toLowerCase(), value(tenant)]),
    );
  const list = tenants.command("list").description("list tenants by their id");
  remote<PageFlags>(listOptions(list), terminal, async (remote, _args, flags) => {
    const fetchPage = (page: object) => remote.client.tenants.list({ query: page });
    await printList(remote, flags, fetchPage, {
      columns,
      none: "There are no tenants. Create one with `posthorn tenants put <id>`.",
    });
  });
  const get = tenants.command("get").description("show a tenant").argument("<tenant>", "its id");
  remote(get, terminal, async (remote, [tenant = ""]) => {
    printResult(remote, await remote.client.tenants.get({ tenant }), describe);
  });
  const put = tenants
    .command("put")
    .description("create or change a tenant")
    .argument("<tenant>", "its id in your system")
    .option("--name <name>", "display name")
    .option("--active", "deliver to its endpoints")
    .addOption(new Option("--inactive", "stop delivering to its endpoints").conflicts("active"))
    .option(
      "--websub-topics <types>",
      "comma-separated types that are public WebSub topics, such as order.paid,invoice.*; '' for none",
    )
    .option("--restore", "restore a deleted tenant with its history");
  remote<PutFlags>(put, terminal, async (remote, [tenant = ""], flags) => {
    const { name, active, inactive, websubTopics, restore } = flags;
    const isActive = active ? true : inactive ? false : undefined;
    const topics = websubTopics === undefined ? undefined : splitList(websubTopics);
    const body = { name, is_active: isActive, websub_topics: topics, restore };
    const put = await remote.client.tenants.put({ tenant, body });
    printResult(remote, put, describe);
    if (topics !== undefined && topics.length > 0)
      printNote(remote, "These topics are public: their events can be read without a key.");
  });
  const remove = tenants
    .command("delete")
    .description("delete a tenant that has no endpoints")
    .argument("<tenant>", "its id")
    .option("--yes", "skip the confirmation");
  remote<{ yes?: boolean }>(remove, terminal, async (remote, [tenant = ""], { yes }) => {
    await confirm(
      terminal,
      `This deletes the tenant ${tenant} with its members and keys. Its history is kept, and its id stays reserved.`,
      yes,
    );
    await remote.client.tenants.delete({ tenant });
    printResult(remote, { id: tenant, deleted: true }, () => `${clean(tenant)} is deleted.`);
  });
}

interface PutFlags {
  readonly restore?: boolean;
  readonly websubTopics?: string;
  readonly name?: string;
  readonly active?: boolean;
  readonly inactive?: boolean;
}
