// `posthorn publish`: publishes an event. The bytes of --data are sent unchanged.
import { contract } from "@posthorn/client";
import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { readData } from "../remote/data.ts";
import { printNote, printResult, type Remote, remote, requireId } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean } from "../terminal/text.ts";
import { Holds } from "../views/hold.ts";
import { explainNoDeliveries, nullIfRejected } from "../views/no-deliveries.ts";

interface PublishFlags {
  readonly tenant?: string;
  readonly user?: string;
  readonly data: string;
  readonly subject?: string;
  readonly idempotencyKey?: string;
  readonly apiVersion?: string;
}

interface Published {
  readonly id: string;
  readonly sequence: number | null;
  readonly duplicate: boolean;
  readonly deliveries: number | null;
}

interface PublishedForUser {
  readonly user: string;
  readonly events: readonly (Published & { readonly tenant: string })[];
}

export function addPublish(program: Command, terminal: Terminal): void {
  const command = program
    .command("publish")
    .description("publish an event")
    .argument("<type>", "type of the event, such as order.paid")
    .addOption(new Option("--tenant <tenant>", "tenant of the event").conflicts("user"))
    .option("--user <user>", "publish for every active tenant of this user instead")
    .option("--data <json>", "JSON, @file, or - for standard input", "{}")
    .option("--subject <subject>", "subject; events of a subject are numbered")
    .option("--idempotency-key <key>", "events with the same key are published once")
    .option("--api-version <version>", "version of the data");
  remote<PublishFlags>(command, terminal, publish);
}

async function publish(remote: Remote, [type = ""]: readonly string[], flags: PublishFlags): Promise<void> {
  const { tenant, user } = flags;
  if (tenant === undefined && user === undefined)
    throw usage("Set the owner of the event with --tenant or --user.");
  requireId(user);
  const data = await readData(flags.data, remote.terminal);
  const fields = {
    tenant,
    user,
    type,
    subject: flags.subject,
    idempotency_key: flags.idempotencyKey,
    api_version: flags.apiVersion,
  };
  const body = `${JSON.stringify(fields).slice(0, -1)},"data":${data}}`;
  const published = JSON.parse(await remote.send(contract.events.publish, "/api/v1/events", body)) as
    | Published
    | PublishedForUser;
  if ("events" in published) {
    printResult(remote, published, describeEach);
    return;
  }
  await printPublished(remote, published);
}

async function printPublished(remote: Remote, published: Published): Promise<void> {
  printResult(remote, published, describe);
  if (published.duplicate || remote.isJson) return;
  if (published.deliveries === 0) await printWhyNoDeliveries(remote, published);
  else await printHolds(remote, published);
}

/** A key that may only publish cannot read the reason, which is not an error. */
async function printWhyNoDeliveries(remote: Remote, { id }: Published): Promise<void> {
  const why = await remote.client.events
    .get({ event: id })
    .then((event) => explainNoDeliveries(remote, event))
    .catch(() => `To see why, use a key with deliveries:read: posthorn trace ${clean(id)}`);
  printNote(remote, why);
}

/** Prints deliveries that are held, if the key may read them. */
async function printHolds(remote: Remote, { id }: Published): Promise<void> {
  const event = await remote.client.events.get({ event: id }).catch(nullIfRejected);
  const holds = new Holds(remote);
  await holds.load(event?.deliveries ?? []);
  for (const delivery of event?.deliveries ?? []) {
    const hold = holds.of(delivery);
    if (hold !== null) printNote(remote, `${clean(delivery.id)} to ${clean(delivery.endpoint_id)} ${hold}.`);
  }
}

function describeEach({ user, events }: PublishedForUser): string {
  if (events.length === 0)
    return `Nothing was published: ${clean(user)} is not a member of an active tenant. See posthorn members list --tenant <tenant>.`;
  return events.map(({ tenant, ...published }) => `${clean(tenant)}: ${describe(published)}`).join("\n");
}

function describe({ id, duplicate, deliveries }: Published): string {
  const shown = clean(id);
  if (duplicate) return `${shown} was already published with this idempotency key.`;
  const made =
    deliveries === null
      ? "Its deliveries are being created."
      : deliveries === 0
        ? "No endpoint matches."
        : `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"} created.`;
  const next = deliveries === 0 ? "" : `\nFollow it with: posthorn trace ${shown}`;
  return `Published ${shown}. ${made}${next}`;
}
