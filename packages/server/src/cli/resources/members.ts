// `posthorn members`: manages the members of a tenant.
import type { Member } from "@posthorn/client";
import type { Command } from "commander";
import {
  addList,
  commandsOf,
  type OfTenant,
  type Param,
  required,
  TENANT,
  wholeNumber,
  YES,
} from "../remote/remote.ts";
import { type Column, columnFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

const columns: readonly Column<Member>[] = [
  { title: "USER", value: ({ user }) => user },
  { title: "ROLE", value: ({ role }) => role },
  { title: "EMAIL", value: ({ email }) => email, canShrink: true },
  { title: "SINCE", value: ({ created_at }) => timeText(created_at) },
];

const USER: Param = ["<user>", "id of the user in your system"];

export function addMembers(program: Command, terminal: Terminal): void {
  const members = program.command("members").description("members of a tenant");
  const add = commandsOf<OfTenant>(members, terminal, [TENANT]);
  const describe = (member: Member): string => columnFacts(terminal, columns, member);

  addList(add, ["list", "list the members"], [], ({ client }, { tenant }) => ({
    fetchPage: (query) => client.members.list({ tenant, query }),
    columns,
    none: "The tenant has no members.",
  }));
  add("get", "show a member", [USER], async ({ client, print }, [user], { tenant }) => {
    print(await client.members.get({ tenant, user }), describe);
  });
  add<Pick<Member, "role"> & { email?: string }>(
    "put",
    "add a member (needs a key of the whole installation), or change the role",
    [
      USER,
      required("--role <role>", "role of the member").choices(["owner", "admin", "member"]),
      ["--email <address>", "address for mails about disabled endpoints"],
    ],
    async ({ client, print }, [user], { tenant, role, email }) => {
      print(await client.members.put({ tenant, user, body: { role, email } }), describe);
    },
  );
  add("delete", "remove a member", [USER, YES], async (remote, [user], { tenant }) => {
    await remote.confirm(`This removes ${user} from ${tenant}.`);
    await remote.client.members.delete({ tenant, user });
    remote.print({ tenant, user, deleted: true }, () => `${clean(user)} is removed.`);
  });
  add<{ expiresIn?: string }>(
    "token",
    "create a token for a member",
    [USER, ["--expires-in <seconds>", "60 to 2592000 (default 3600)"]],
    async ({ client, print, note }, [user], { tenant, expiresIn }) => {
      const seconds =
        expiresIn === undefined ? undefined : wholeNumber("--expires-in", expiresIn, 60, 2_592_000);
      const body = { expires_in_seconds: seconds };
      const made = await client.members.createToken({ tenant, user, body });
      print(made, ({ key }) => clean(key));
      note(`The token is shown only once. It expires at ${timeText(made.expires_at)}.`);
    },
  );
}
