// `posthorn keys`: manages API keys.
import { type Key, SCOPES, type Scope } from "@posthorn/client";
import type { Command } from "commander";
import { usage } from "../failure.ts";
import { confirm } from "../remote/confirm.ts";
import {
  listOptions,
  type PageFlags,
  parseFutureTime,
  printList,
  printNote,
  printResult,
  remote,
  splitList,
  wholeNumber,
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
  const keys = program.command("keys").description("API keys");
  const list = keys
    .command("list")
    .description("list keys")
    .option("--tenant <tenant>", "only of this tenant");
  remote<PageFlags & { tenant?: string }>(listOptions(list), terminal, async (remote, _args, flags) => {
    const { tenant } = flags;
    const fetchPage = (page: object) => remote.client.keys.list({ query: { tenant, ...page } });
    await printList(remote, flags, fetchPage, { columns, none: "There are no keys." });
  });
  const create = keys
    .command("create")
    .description("create a key; it is shown only once")
    .argument("<name>", "what it is for")
    .requiredOption("--scopes <scopes>", `comma-separated: ${SCOPES.join(", ")}`)
    .option("--tenant <tenant>", "only for this tenant")
    .option("--expires-at <time>", "expiry: 2027-01-01, or 2027-01-01T09:30:00Z")
    .option("--rate-limit <number>", "requests per second");
  remote<CreateFlags>(create, terminal, async (remote, [name = ""], flags) => {
    const { tenant, expiresAt, rateLimit } = flags;
    const rate = rateLimit === undefined ? undefined : wholeNumber("--rate-limit", rateLimit, 1, 100_000);
    const scopes = scopesOf(flags.scopes);
    const end =
      expiresAt === undefined ? undefined : parseFutureTime("--expires-at", expiresAt, remote.now());
    const body = { name, scopes, tenant, expires_at: end?.toISOString(), rate_limit: rate };
    const made = await remote.client.keys.create({ body });
    printResult(remote, made, ({ key }) => clean(key));
    printNote(remote, `The key is shown only once. Its id is ${clean(made.id)}.`);
  });
  const revoke = keys
    .command("revoke")
    .description("revoke a key")
    .argument("<key>", "id of the key, not the key itself")
    .option("--yes", "skip the confirmation");
  remote<{ yes?: boolean }>(revoke, terminal, async (remote, [key = ""], { yes }) => {
    await confirm(terminal, `This revokes the key ${key}.`, yes);
    await remote.client.keys.revoke({ key });
    printResult(remote, { id: key, revoked: true }, () => `${clean(key)} is revoked.`);
  });
}

function scopesOf(text: string): Scope[] {
  const given = splitList(text);
  const wrong = given.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  if (wrong === undefined && given.length > 0) return given as Scope[];
  throw usage(`--scopes has "${wrong ?? ""}"; choose from ${SCOPES.join(", ")}.`);
}
