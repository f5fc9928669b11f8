// `posthorn endpoints`: manages the endpoints of a tenant.
import type { AnswerOf, BodyOf, Endpoint, PosthornContract } from "@posthorn/client";
import { parseSecret } from "@posthorn/wire";
import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { confirm } from "../remote/confirm.ts";
import { readData } from "../remote/data.ts";
import {
  removalOptions,
  type SettingFlags,
  secretOptions,
  settingOptions,
  settingsOf,
} from "../remote/endpoint-settings.ts";
import {
  listOptions,
  type PageFlags,
  printList,
  printNote,
  printResult,
  type Remote,
  remote,
  wholeNumber,
} from "../remote/remote.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";
import { endpointColumns, endpointText, publicKeysPath } from "../views/endpoint.ts";

interface OfTenant {
  readonly tenant: string;
}

interface ImportFlags {
  readonly data: string;
  readonly asNew?: boolean;
  readonly dryRun?: boolean;
}

interface RotateFlags {
  readonly overlapSeconds?: string;
  readonly scheme?: string;
  readonly secret?: string;
  readonly yes?: boolean;
}

interface TestFlags {
  readonly type?: string;
  readonly data?: string;
}

type Imported = AnswerOf<PosthornContract["endpoints"]["import"]>["endpoints"][number];
type ImportItem = BodyOf<PosthornContract["endpoints"]["import"]>["endpoints"][number];

const importColumns: readonly Column<Imported>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "CHANGE", value: ({ action }) => action },
  { title: "URL", value: ({ url }) => url, canShrink: true },
  { title: "SECRET", value: ({ secret }) => secret },
];

type Call<Flags> = (remote: Remote, args: readonly string[], flags: Flags & OfTenant) => Promise<void>;

export function addEndpoints(program: Command, terminal: Terminal): void {
  const endpoints = program.command("endpoints").description("endpoints of a tenant");
  const describe = (endpoint: Endpoint): string => endpointText(terminal, endpoint);
  const add = (name: string, description: string): Command =>
    endpoints.command(name).description(description).requiredOption("--tenant <tenant>", "id of the tenant");
  const addOfOne = (name: string, description: string): Command =>
    add(name, description).argument("<endpoint>", "ep_…");
  const run = <Flags extends object = object>(command: Command, call: Call<Flags>): Command =>
    remote<Flags & OfTenant>(command, terminal, call);

  run<PageFlags>(listOptions(add("list", "list the endpoints of a tenant")), async (remote, _args, flags) => {
    const { tenant } = flags;
    const fetchPage = (page: object) => remote.client.endpoints.list({ tenant, query: page });
    await printList(remote, flags, fetchPage, {
      columns: endpointColumns,
      none: "The tenant has no endpoints.",
    });
  });
  run(addOfOne("get", "show an endpoint"), async (remote, [endpoint = ""], { tenant }) => {
    printResult(remote, await remote.client.endpoints.get({ tenant, endpoint }), describe);
  });
  const create = add("create", "create an endpoint; its secret is shown only once").argument(
    "<url>",
    "its URL",
  );
  run<SettingFlags>(secretOptions(settingOptions(create)), async (remote, [url = ""], flags) => {
    const given = await settingsOf(flags, terminal, async () => null);
    const body = { events: ["*"], ...given, url };
    const made = await remote.client.endpoints.create({ tenant: flags.tenant, body });
    printResult(remote, made, ({ secret, ...endpoint }) =>
      [describe(endpoint), "", `Secret (shown only once): ${clean(secret)}`].join("\n"),
    );
    warnOfPrivateKeys(remote, [made]);
  });
  const update = removalOptions(settingOptions(addOfOne("update", "change settings of an endpoint")));
  run<SettingFlags>(update, async (remote, [endpoint = ""], flags) => {
    const current = () => remote.client.endpoints.get({ tenant: flags.tenant, endpoint });
    const body = await settingsOf(flags, terminal, current);
    if (Object.keys(body).length === 0) {
      throw usage("There is nothing to change. Use a setting such as --to, --events, --format or --data.");
    }
    printResult(
      remote,
      await remote.client.endpoints.update({ tenant: flags.tenant, endpoint, body }),
      describe,
    );
  });
  const importing = add(
    "import",
    "create and change several endpoints, all or none; new secrets are shown only once",
  )
    .requiredOption(
      "--data <json>",
      "output of `endpoints list --json`, or a list of endpoints: JSON, @file, or -",
    )
    .option("--as-new", "ignore their ids and create all of them")
    .option("--dry-run", "show what would be done");
  run<ImportFlags>(importing, async (remote, _args, { tenant, data, asNew, dryRun }) => {
    const items = endpointsIn(JSON.parse(await readData(data, terminal)), asNew ?? false);
    const body = { endpoints: items, ...(dryRun && { dry_run: true }) };
    const done = await remote.client.endpoints.import({ tenant, body });
    printResult(remote, done, ({ endpoints }) => table(terminal, importColumns, endpoints));
    if (dryRun) printNote(remote, "Nothing was changed: this was a dry run.");
    else if (done.endpoints.some(({ secret }) => secret !== null))
      printNote(remote, "The secrets are shown only once.");
    warnOfPrivateKeys(remote, done.endpoints);
  });
  const remove = addOfOne("delete", "delete an endpoint and cancel its pending deliveries").option(
    "--yes",
    "skip the confirmation",
  );
  run<{ yes?: boolean }>(remove, async (remote, [endpoint = ""], { tenant, yes }) => {
    await confirm(terminal, `This deletes the endpoint ${endpoint} and cancels its pending deliveries.`, yes);
    await remote.client.endpoints.delete({ tenant, endpoint });
    printResult(remote, { id: endpoint, deleted: true }, () => `${clean(endpoint)} is deleted.`);
  });
  const enable = addOfOne("enable", "enable an endpoint").addOption(
    new Option("--backlog <what>", "deliver or discard its pending deliveries").choices([
      "deliver",
      "discard",
    ]),
  );
  run<{ backlog?: "deliver" | "discard" }>(enable, async (remote, [endpoint = ""], { tenant, backlog }) => {
    printResult(
      remote,
      await remote.client.endpoints.enable({ tenant, endpoint, body: { backlog } }),
      describe,
    );
  });
  run(
    addOfOne("disable", "disable an endpoint; its deliveries wait"),
    async (remote, [endpoint = ""], flags) => {
      printResult(
        remote,
        await remote.client.endpoints.disable({ tenant: flags.tenant, endpoint }),
        describe,
      );
    },
  );
  const test = addOfOne("test", "send a test event to this endpoint only")
    .option("--type <type>", "type of the event, regardless of the endpoint's events (default webhook.test)")
    .option("--data <json>", "data of the event: JSON, @file, or -");
  run<TestFlags>(test, async (remote, [endpoint = ""], { tenant, type, data }) => {
    const given = data === undefined ? {} : { data: JSON.parse(await readData(data, terminal)) };
    const sent = await remote.client.endpoints.test({ tenant, endpoint, body: { type, ...given } });
    printResult(remote, sent, ({ event_id }) =>
      [`Sent ${clean(event_id)}.`, `Show the result with: posthorn trace ${clean(event_id)}`].join("\n"),
    );
  });
  const rotate = addOfOne("rotate-secret", "create a new secret; the old one stays valid for a while")
    .option("--overlap-seconds <number>", "how long both are valid, 0 to 1209600 (default 7 days)")
    .option("--scheme <scheme>", "rotate only the secret of this signature scheme")
    .option("--secret <secret>", "your own secret (default: generated)")
    .option("--yes", "skip the confirmation");
  run<RotateFlags>(rotate, async (remote, [endpoint = ""], flags) => {
    const { tenant, overlapSeconds: text, scheme, secret: own, yes } = flags;
    const overlap = text === undefined ? undefined : wholeNumber("--overlap-seconds", text, 0, 1_209_600);
    if (overlap === 0)
      await confirm(terminal, `The current secret of ${endpoint} becomes invalid at once.`, yes);
    const body = { overlap_seconds: overlap, scheme, secret: own };
    const rotated = await remote.client.endpoints.rotateSecret({ tenant, endpoint, body });
    printResult(remote, rotated, ({ secret }) => clean(secret));
    printNote(remote, endOfPrevious(rotated.previous_expires_at, overlap));
    warnOfPrivateKeys(remote, [{ id: endpoint, secret: rotated.secret }]);
  });
}

function endOfPrevious(end: string | null, overlap: number | undefined): string {
  if (end !== null) return `The previous secret is valid until ${timeText(end)}.`;
  return overlap === 0 ? "The previous secret is no longer valid." : "There was no previous secret.";
}

/** A private key must stay with the sender. */
function warnOfPrivateKeys(
  remote: Remote,
  made: readonly { readonly id: string | null; readonly secret: string | null }[],
): void {
  for (const { id, secret } of made) {
    if (id === null || secret === null || parseSecret(secret)?.kind !== "signing") continue;
    printNote(
      remote,
      `The whsk_… is a private key: keep it secret. Receivers verify with the public key at ${publicKeysPath(clean(id))} of the server.`,
    );
  }
}

/** Accepts a page of the list, the body of an import, or a bare array. The server validates the items. */
function endpointsIn(given: unknown, asNew: boolean): ImportItem[] {
  const { data, endpoints } = (given ?? {}) as { data?: unknown; endpoints?: unknown };
  const items = [given, data, endpoints].find(Array.isArray);
  if (items === undefined)
    throw usage("--data has no list of endpoints. Give what `posthorn endpoints list --json` writes.");
  return asNew ? items.map((item) => ({ ...item, id: undefined })) : items;
}
