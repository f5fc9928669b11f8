// `posthorn members`: manages the members of a tenant.
import type { Member } from "@posthorn/client";
import { type Command, Option } from "commander";
import { confirm } from "../remote/confirm.ts";
import {
  listOptions,
  type PageFlags,
  printList,
  printNote,
  printResult,
  remote,
  wholeNumber,
} from "../remote/remote.ts";
import { type Column, facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

const columns: readonly Column<Member>[] = [
  { title: "USER", value: ({ user }) => user },
  { title: "ROLE", value: ({ role }) => role },
  { title: "EMAIL", value: ({ email }) => email, canShrink: true },
  { title: "SINCE", value: ({ created_at }) => timeText(created_at) },
];

interface OfTenant {
  readonly tenant: string;
}

export function addMembers(program: Command, terminal: Terminal): void {
  const members = program.command("members").description("members of a tenant");
  const describe = (member: Member): string =>
    facts(
      terminal,
      columns.map(({ title, value }) => [title.toLowerCase(), value(member)]),
    );
  const add = (name: string, description: string): Command =>
    members.command(name).description(description).requiredOption("--tenant <tenant>", "id of the tenant");
  const addOfUser = (name: string, description: string): Command =>
    add(name, description).argument("<user>", "id of the user in your system");

  remote<PageFlags & OfTenant>(
    listOptions(add("list", "list the members")),
    terminal,
    async (remote, _args, flags) => {
      const { tenant } = flags;
      const fetchPage = (page: object) => remote.client.members.list({ tenant, query: page });
      await printList(remote, flags, fetchPage, { columns, none: "The tenant has no members." });
    },
  );
  remote<OfTenant>(addOfUser("get", "show a member"), terminal, async (remote, [user = ""], { tenant }) => {
    printResult(remote, await remote.client.members.get({ tenant, user }), describe);
  });
  const put = addOfUser("put", "add a member (needs a key of the whole installation), or change the role")
    .addOption(
      new Option("--role <role>", "role of the member")
        .choices(["owner", "admin", "member"])
        .makeOptionMandatory(),
    )
    .option("--email <address>", "address for mails about disabled endpoints");
  remote<OfTenant & Pick<Member, "role"> & { email?: string }>(
    put,
    terminal,
    async (remote, [user = ""], { tenant, role, email }) => {
      printResult(remote, await remote.client.members.put({ tenant, user, body: { role, email } }), describe);
    },
  );
  const remove = addOfUser("delete", "remove a member").option("--yes", "skip the confirmation");
  remote<OfTenant & { yes?: boolean }>(remove, terminal, async (remote, [user = ""], { tenant, yes }) => {
    await confirm(terminal, `This removes ${user} from ${tenant}.`, yes);
    await remote.client.members.delete({ tenant, user });
    printResult(remote, { tenant, user, deleted: true }, () => `${clean(user)} is removed.`);
  });
  const token = addOfUser("token", "create a token for a member").option(
    "--expires-in <seconds>",
    "60 to 2592000 (default 3600)",
  );
  remote<OfTenant & { expiresIn?: string }>(
    token,
    terminal,
    async (remote, [user = ""], { tenant, expiresIn }) => {
      const seconds =
        expiresIn === undefined ? undefined : wholeNumber("--expires-in", expiresIn, 60, 2_592_000);
      const body = { expires_in_seconds: seconds };
      const made = await remote.client.members.createToken({ tenant, user, body });
      printResult(remote, made, ({ key }) => clean(key));
      printNote(remote, `The token is shown only once. It expires ${timeText(made.expires_at)}.`);
    },
  );
}
