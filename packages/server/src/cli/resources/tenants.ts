// `posthorn tenants`: manages tenants.
import type { Tenant } from "@posthorn/client";
import { type Command, Option } from "commander";
import { addList, commandsOf, splitList, YES } from "../remote/remote.ts";
import { type Column, columnFacts } from "../terminal/table.ts";
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
  const add = commandsOf(program.command("tenants").description("tenants"), terminal);
  const describe = (tenant: Tenant): string => columnFacts(terminal, columns, tenant);
  addList(add, ["list", "list tenants by their id"], [], ({ client }) => ({
    fetchPage: (query) => client.tenants.list({ query }),
    columns,
    none: "There are no tenants. Create one with `posthorn tenants put <id>`.",
  }));
  add("get", "show a tenant", [["<tenant>", "its id"]], async ({ client, print }, [tenant]) => {
    print(await client.tenants.get({ tenant }), describe);
  });
  add<PutFlags>(
    "put",
    "create or change a tenant",
    [
      ["<tenant>", "its id in your system"],
      ["--name <name>", "display name"],
      ["--active", "deliver to its endpoints"],
      new Option("--inactive", "stop delivering to its endpoints").conflicts("active"),
      [
        "--websub-topics <types>",
        "comma-separated types that are public WebSub topics, such as order.paid,invoice.*; '' for none",
      ],
      ["--restore", "restore a deleted tenant with its history"],
    ],
    async ({ client, print, note }, [tenant], { name, active, inactive, websubTopics, restore }) => {
      const isActive = active ? true : inactive ? false : undefined;
      const topics = websubTopics === undefined ? undefined : splitList(websubTopics);
      const body = { name, is_active: isActive, websub_topics: topics, restore };
      print(await client.tenants.put({ tenant, body }), describe);
      if (topics !== undefined && topics.length > 0)
        note("These topics are public: their events can be read without a key.");
    },
  );
  add(
    "delete",
    "delete a tenant that has no endpoints",
    [["<tenant>", "its id"], YES],
    async ({ client, print, confirm }, [tenant]) => {
      await confirm(
        `This deletes the tenant ${tenant} with its members and keys. Its history is kept, and its id stays reserved.`,
      );
      await client.tenants.delete({ tenant });
      print({ id: tenant, deleted: true }, () => `${clean(tenant)} is deleted.`);
    },
  );
}

interface PutFlags {
  readonly restore?: boolean;
  readonly websubTopics?: string;
  readonly name?: string;
  readonly active?: boolean;
  readonly inactive?: boolean;
}
