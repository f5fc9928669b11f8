// `posthorn keys`: manages API keys.
import { type Key, SCOPES } from "@posthorn/client";
import type { Command } from "commander";
import {
  addList,
  commandsOf,
  knownWords,
  parseFutureTime,
  required,
  TENANT_FILTER,
  wholeNumber,
  YES,
} from "../remote/remote.ts";
import type { Column } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

const columns: readonly Column<Key>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name, canShrink: true },
  { title: "TENANT", value: ({ tenant }) => tenant ?? "all", canShrink: true },
  {
    title: "SCOPES",
    value: ({ scopes, user, role }) =>
      user === null ? scopes.join(" ") : `token of ${user}, ${role ?? "not a member"}`,
    canShrink: true,
  },
  { title: "RATE", value: ({ rate_limit }) => (rate_limit === null ? null : `${rate_limit}/s`) },
  { title: "LAST USED", value: ({ last_used_at }) => timeText(last_used_at) },
  { title: "EXPIRES", value: ({ expires_at }) => timeText(expires_at) },
];

interface CreateFlags {
  readonly scopes: string;
  readonly tenant?: string;
  readonly expiresAt?: string;
  readonly rateLimit?: string;
}

export function addKeys(program: Command, terminal: Terminal): void {
  const add = commandsOf(program.command("keys").description("API keys"), terminal);
  addList(add, ["list", "list keys"], [TENANT_FILTER], ({ client }) => ({
    fetchPage: (query) => client.keys.list({ query }),
    columns,
    none: "There are no keys.",
  }));
  add<CreateFlags>(
    "create",
    "create a key; it is shown only once",
    [
      ["<name>", "what it is for"],
      required("--scopes <scopes>", `comma-separated: ${SCOPES.join(", ")}`),
      ["--tenant <tenant>", "only for this tenant"],
      ["--expires-at <time>", "expiry: 2027-01-01, or 2027-01-01T09:30:00Z"],
      ["--rate-limit <number>", "requests per second"],
    ],
    async ({ client, print, note, now }, [name], { tenant, expiresAt, rateLimit, ...flags }) => {
      const rate = rateLimit === undefined ? undefined : wholeNumber("--rate-limit", rateLimit, 1, 100_000);
      const scopes = knownWords("--scopes", flags.scopes, SCOPES);
      const end = expiresAt === undefined ? undefined : parseFutureTime("--expires-at", expiresAt, now());
      const body = { name, scopes, tenant, expires_at: end?.toISOString(), rate_limit: rate };
      const made = await client.keys.create({ body });
      print(made, ({ key }) => clean(key));
      note(`The key is shown only once. Its id is ${clean(made.id)}.`);
    },
  );
  const params = [["<key>", "id of the key, not the key itself"], YES] as const;
  add("revoke", "revoke a key", params, async (remote, [key]) => {
    await remote.confirm(`This revokes the key ${key} and cancels the replays that it has scheduled.`);
    await remote.client.keys.revoke({ key });
    remote.print({ id: key, revoked: true }, () => `${clean(key)} is revoked.`);
  });
}
