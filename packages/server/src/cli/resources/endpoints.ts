// `posthorn endpoints`: manages the endpoints of a tenant.
import type { BodyOf, Endpoint, PosthornContract, ResponseOf } from "@posthorn/client";
import { parseSecret, type SecretEncoding } from "@posthorn/wire";
import type { Command } from "commander";
import { usage } from "../failure.ts";
import { readData } from "../remote/data.ts";
import {
  REMOVAL_OPTIONS,
  SECRET_OPTIONS,
  SETTING_PARAMS,
  type SettingFlags,
  settingsOf,
} from "../remote/endpoint-settings.ts";
import {
  addList,
  commandsOf,
  ENDPOINT,
  type OfTenant,
  type Param,
  type Remote,
  required,
  TENANT,
  wholeNumber,
  YES,
} from "../remote/remote.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";
import { endpointColumns, endpointText, publicKeysPath } from "../views/endpoint.ts";
import { SECRET_ENCODING_OPTION } from "../views/secrets.ts";

type Imported = ResponseOf<PosthornContract["endpoints"]["import"]>["endpoints"][number];
type ImportItem = BodyOf<PosthornContract["endpoints"]["import"]>["endpoints"][number];

const importColumns: readonly Column<Imported>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "CHANGE", value: ({ action }) => action },
  { title: "URL", value: ({ url }) => url, canShrink: true },
  { title: "SECRET", value: ({ secret }) => secret },
];

export function addEndpoints(program: Command, terminal: Terminal): void {
  const endpoints = program.command("endpoints").description("endpoints of a tenant");
  const add = commandsOf<OfTenant>(endpoints, terminal, [TENANT]);
  const describe = (endpoint: Endpoint): string => endpointText(terminal, endpoint);

  const search: Param = ["--search <text>", "only with this text in their name or URL"];
  addList(add, ["list", "list the endpoints of a tenant"], [search], ({ client }, { tenant }) => ({
    fetchPage: (query) => client.endpoints.list({ tenant, query }),
    columns: endpointColumns,
    none: "No endpoints found.",
  }));
  add("get", "show an endpoint", [ENDPOINT], async ({ client, print }, [endpoint], { tenant }) => {
    print(await client.endpoints.get({ tenant, endpoint }), describe);
  });
  add<SettingFlags>(
    "create",
    "create an endpoint; its secret is shown only once",
    [["<url>", "its URL"], ...SETTING_PARAMS, ...SECRET_OPTIONS],
    async (remote, [url], flags) => {
      const given = await settingsOf(flags, terminal, async () => null);
      const body = { events: ["*"], ...given, url };
      const made = await remote.client.endpoints.create({ tenant: flags.tenant, body });
      remote.print(made, ({ secret, warnings: _, ...endpoint }) =>
        [describe(endpoint), "", `Secret (shown only once): ${clean(secret)}`].join("\n"),
      );
      noteWarnings(remote, [made]);
      warnOfPrivateKeys(remote, [made]);
    },
  );
  add<SettingFlags>(
    "update",
    "change settings of an endpoint",
    [ENDPOINT, ...SETTING_PARAMS, ...REMOVAL_OPTIONS],
    async (remote, [endpoint], { tenant, ...flags }) => {
      const { client } = remote;
      const body = await settingsOf(flags, terminal, () => client.endpoints.get({ tenant, endpoint }));
      if (Object.keys(body).length === 0) {
        throw usage("There is nothing to change. Use a setting such as --to, --events, --format or --data.");
      }
      const updated = await client.endpoints.update({ tenant, endpoint, body });
      remote.print(updated, describe);
      noteWarnings(remote, [updated]);
    },
  );
  add<{ data: string; asNew?: boolean; dryRun?: boolean }>(
    "import",
    "create and change several endpoints, all or none; new secrets are shown only once",
    [
      required(
        "--data <json>",
        "output of `endpoints list --json`, or a list of endpoints: JSON, @file, or -",
      ),
      ["--as-new", "ignore their ids and create all of them"],
      ["--dry-run", "show what would be done"],
    ],
    async (remote, _args, { tenant, data, asNew, dryRun }) => {
      const items = endpointsIn(JSON.parse(await readData(data, terminal)), asNew ?? false);
      const body = { endpoints: items, ...(dryRun && { dry_run: true }) };
      const done = await remote.client.endpoints.import({ tenant, body });
      remote.print(done, ({ endpoints }) => table(terminal, importColumns, endpoints));
      if (dryRun) remote.note("Nothing was changed: this was a dry run.");
      else if (done.endpoints.some(({ secret }) => secret !== null))
        remote.note("The secrets are shown only once.");
      noteWarnings(remote, done.endpoints);
      warnOfPrivateKeys(remote, done.endpoints);
    },
  );
  const deleting = "delete an endpoint; its backlog becomes dead letters";
  add("delete", deleting, [ENDPOINT, YES], async (remote, [endpoint], { tenant }) => {
    await remote.confirm(`This deletes the endpoint ${endpoint}; its backlog becomes dead letters.`);
    await remote.client.endpoints.delete({ tenant, endpoint });
    remote.print({ id: endpoint, deleted: true }, () => `${clean(endpoint)} is deleted.`);
  });
  add<{ backlog?: "deliver" | "discard" }>(
    "enable",
    "enable an endpoint",
    [ENDPOINT, ["--backlog <what>", "deliver or discard its held deliveries", ["deliver", "discard"]]],
    async ({ client, print }, [endpoint], { tenant, backlog }) => {
      print(await client.endpoints.enable({ tenant, endpoint, body: { backlog } }), describe);
    },
  );
  const disabling = "disable an endpoint; its deliveries wait";
  add("disable", disabling, [ENDPOINT], async ({ client, print }, [endpoint], { tenant }) => {
    print(await client.endpoints.disable({ tenant, endpoint }), describe);
  });
  add<{ type?: string; data?: string }>(
    "test",
    "send a test event to this endpoint only",
    [
      ENDPOINT,
      ["--type <type>", "type of the event, regardless of the endpoint's events (default webhook.test)"],
      ["--data <json>", "data of the event: JSON, @file, or -"],
    ],
    async ({ client, print }, [endpoint], { tenant, type, data }) => {
      const given = data === undefined ? {} : { data: JSON.parse(await readData(data, terminal)) };
      const sent = await client.endpoints.test({ tenant, endpoint, body: { type, ...given } });
      print(sent, ({ event_id }) =>
        [`Sent ${clean(event_id)}.`, `Show the result with: posthorn trace ${clean(event_id)}`].join("\n"),
      );
    },
  );
  add<{ overlapSeconds?: string; scheme?: string; secret?: string; secretEncoding?: SecretEncoding }>(
    "rotate-secret",
    "create a new secret; the old one stays valid for a while",
    [
      ENDPOINT,
      ["--overlap-seconds <number>", "how long both are valid, 0 to 1209600 (default 7 days)"],
      ["--scheme <scheme>", "rotate only the secret of this signature scheme"],
      ["--secret <secret>", "your own secret (default: generated)"],
      SECRET_ENCODING_OPTION,
      YES,
    ],
    async (remote, [endpoint], { tenant, overlapSeconds: text, scheme, secret: own, secretEncoding }) => {
      const overlap = text === undefined ? undefined : wholeNumber("--overlap-seconds", text, 0, 1_209_600);
      if (overlap === 0) await remote.confirm(`The current secret of ${endpoint} becomes invalid at once.`);
      const body = { overlap_seconds: overlap, scheme, secret: own, secret_encoding: secretEncoding };
      const rotated = await remote.client.endpoints.rotateSecret({ tenant, endpoint, body });
      remote.print(rotated, ({ secret }) => clean(secret));
      remote.note(endOfPrevious(rotated.previous_expires_at, overlap));
      warnOfPrivateKeys(remote, [{ id: endpoint, secret: rotated.secret }]);
    },
  );
}

function endOfPrevious(end: string | null, overlap: number | undefined): string {
  if (end !== null) return `The previous secret is valid until ${timeText(end)}.`;
  return overlap === 0 ? "The previous secret is no longer valid." : "There was no previous secret.";
}

function noteWarnings(remote: Remote, saved: readonly Pick<Imported, "warnings">[]): void {
  for (const { message } of saved.flatMap(({ warnings }) => warnings))
    remote.note(`Warning: ${clean(message)}`);
}

/** A private key must stay with the sender. */
function warnOfPrivateKeys(
  remote: Remote,
  made: readonly { readonly id: string | null; readonly secret: string | null }[],
): void {
  for (const { id, secret } of made) {
    if (id === null || secret === null || parseSecret(secret)?.kind !== "signing") continue;
    remote.note(
      `The whsk_… is a private key: keep it secret. Receivers verify with the public key at ${publicKeysPath(clean(id))} of the server.`,
    );
  }
}

/** Accepts a page of the list, the body of an import, or a bare array. The server validates the items. */
function endpointsIn(given: unknown, asNew: boolean): ImportItem[] {
  const { data, endpoints } = (given ?? {}) as { data?: unknown; endpoints?: unknown };
  const items = [given, data, endpoints].find(Array.isArray);
  if (items === undefined)
    throw usage("--data has no list of endpoints. Use the output of `posthorn endpoints list --json`.");
  return asNew ? items.map((item) => ({ ...item, id: undefined })) : items;
}
