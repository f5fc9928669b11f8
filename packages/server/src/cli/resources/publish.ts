// `posthorn publish`: publishes an event. The bytes of --data are sent unchanged.
import type { PosthornContract, ResponseOf } from "@posthorn/client";
import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { readData } from "../remote/data.ts";
import { type Args, commandsOf, type Remote, requireId } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean } from "../terminal/text.ts";
import { explainNoDeliveries, nullIfRejected } from "../views/no-deliveries.ts";
import { waitText } from "../views/wait.ts";

interface PublishFlags {
  readonly tenant?: string;
  readonly user?: string;
  readonly data: string;
  readonly subject?: string;
  readonly idempotencyKey?: string;
  readonly apiVersion?: string;
}

type Publications = ResponseOf<PosthornContract["events"]["publish"]>;
type Published = Extract<Publications, { id: string }>;
type PublishedForUser = Extract<Publications, { user: string }>;

export function addPublish(program: Command, terminal: Terminal): void {
  const params = [
    ["<type>", "type of the event, such as order.paid"],
    new Option("--tenant <tenant>", "tenant of the event").conflicts("user"),
    ["--user <user>", "publish for every active tenant of this user instead"],
    new Option("--data <json>", "JSON, @file, or - for standard input").default("{}"),
    ["--subject <subject>", "subject; events of a subject are numbered"],
    ["--idempotency-key <key>", "events with the same key are published once"],
    ["--api-version <version>", "version of the data"],
  ] as const;
  commandsOf(program, terminal)<PublishFlags>("publish", "publish an event", params, publish);
}

async function publish(remote: Remote, [type]: Args, flags: PublishFlags): Promise<void> {
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
  const published = JSON.parse(await remote.send(remote.contract.events.publish, "/api/v1/events", body)) as
    | Published
    | PublishedForUser;
  if ("events" in published) return remote.print(published, describeEach);
  remote.print(published, describe);
  if (published.duplicate || remote.isJson) return;
  if (published.deliveries === 0) await printWhyNoDeliveries(remote, published);
  else await printWaits(remote, published);
}

/** A key that may only publish cannot read the reason, which is not an error. */
async function printWhyNoDeliveries(remote: Remote, { id }: Published): Promise<void> {
  const why = await remote.client.events
    .get({ event: id })
    .then((event) => explainNoDeliveries(remote, event))
    .catch(() => `To see why, use a key with deliveries:read: posthorn trace ${clean(id)}`);
  remote.note(why);
}

/** Prints deliveries that wait for something, if the key may read them. */
async function printWaits(remote: Remote, { id }: Published): Promise<void> {
  const event = await remote.client.events.get({ event: id }).catch(nullIfRejected);
  for (const delivery of event?.deliveries ?? []) {
    const wait = waitText(delivery, remote.now());
    if (wait !== null) remote.note(`${clean(delivery.id)} to ${clean(delivery.endpoint_id)} ${wait}.`);
  }
}

function describeEach({ user, events }: PublishedForUser): string {
  if (events.length === 0)
    return `Nothing was published: ${clean(user)} is not a member of an active tenant. See posthorn members list --tenant <tenant>.`;
  return events.map(({ tenant, ...published }) => `${clean(tenant)}: ${describe(published)}`).join("\n");
}

function describe({ id, duplicate, deliveries, dropped }: Published): string {
  const shown = clean(id);
  if (duplicate) return `${shown} was already published with this idempotency key.`;
  const made =
    deliveries === null
      ? "Its deliveries are being created."
      : deliveries === 0
        ? dropped
          ? "Delivery is off, and it was dropped."
          : "No endpoint matches."
        : `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"} created.`;
  const next = deliveries === 0 ? "" : `\nFollow it with: posthorn trace ${shown}`;
  return `Published ${shown}. ${made}${next}`;
}
