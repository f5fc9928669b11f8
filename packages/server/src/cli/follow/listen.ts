// `posthorn listen`: forwards events of a server to a program on this machine. See docs/decisions/0013-listen-polls-and-pages-stream.md.

import { setTimeout as sleep } from "node:timers/promises";
import { PosthornApiError } from "@posthorn/client";
import { parseUrl } from "@posthorn/wire";
import { type Command, Option } from "commander";
import { matches, PAYLOAD_FORMATS } from "posthorn/internal";
import { VERSION } from "../../version.ts";
import { usage } from "../failure.ts";
import { commandsOf, type Remote, splitList, wholeNumber } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, timeText, toned } from "../terminal/text.ts";
import { prefixOf, requireSigningSecrets, SCHEMES_OPTION, schemesOf, secretsOf } from "../views/secrets.ts";
import { Follower } from "./follower.ts";
import { forward, type LocalResponse } from "./forward.ts";
import { poll, reportSkipped } from "./poll.ts";
import { type ForwardOptions, listenerSecret, readEvent, requestFor } from "./request.ts";
import { eventSource, resendSource, startOf } from "./sources.ts";

/** All formats except batches, which the server collects. */
const FORMATS = PAYLOAD_FORMATS.filter((format) => format !== "cloudevents-batch");

interface ListenFlags {
  readonly forwardTo?: string;
  readonly tenant?: string;
  readonly events?: string;
  readonly since?: string;
  readonly secret?: string;
  readonly printSecret?: boolean;
  readonly scheme?: string;
  readonly headerPrefix?: string;
  readonly format: ForwardOptions["format"];
  readonly every: string;
}

export function addListen(program: Command, terminal: Terminal): void {
  commandsOf(program, terminal)<ListenFlags>(
    "listen",
    "forward events to a program on this machine, even across server restarts",
    [
      ["--forward-to <url>", "URL of the program, such as http://localhost:3000/hooks"],
      ["--tenant <tenant>", "only events of this tenant"],
      ["--events <types>", "comma-separated types such as order.paid,invoice.* (default all)"],
      ["--since <time>", "begin with events since this time: 10m, 2h, or a timestamp"],
      ["--secret <secret>", "signing secret (default: derived from the key)"],
      ["--print-secret", "print the signing secret and exit"],
      SCHEMES_OPTION,
      ["--header-prefix <prefix>", "prefix of the headers (default X-Webhook)"],
      new Option("--format <format>", "format of the body").choices(FORMATS).default("envelope"),
      new Option("--every <ms>", "poll interval in milliseconds").default("1000"),
    ],
    listen,
  );
}

/** An event to forward; for a resend with the delivery and the attempt number. */
interface Job {
  readonly eventId: string;
  readonly type: string;
  readonly at: string;
  readonly resent: { readonly deliveryId: string; readonly attempt: number } | null;
}

async function listen(remote: Remote, _args: readonly string[], flags: ListenFlags): Promise<void> {
  const { terminal } = remote;
  const secret = flags.secret ?? listenerSecret(remote.key);
  if (flags.printSecret) return terminal.print(remote.isJson ? jsonText({ secret }) : secret);
  const options = signingOptions(flags, secret, remote.url);
  const { url } = options;
  const patterns = flags.events === undefined ? ["*"] : splitList(flags.events);
  const everyMs = wholeNumber("--every", flags.every, 50, 60_000);
  const filter = { tenant: flags.tenant, type: undefined };
  const start = await startOf(remote, filter, flags.since);
  const events = new Follower(eventSource(remote, filter), start);
  const resends = new Follower(resendSource(remote, filter), start);
  const waiting: Job[] = [];

  const pollOnce = async (): Promise<void> => {
    const jobs = [
      ...(await events.poll()).map(
        ({ id, type, created_at }): Job => ({ eventId: id, type, at: created_at, resent: null }),
      ),
      ...(await resends.poll()).map(
        ({ event_id, event_type, resent_at, delivery_id, attempt }): Job => ({
          eventId: event_id,
          type: event_type,
          at: resent_at,
          resent: { deliveryId: delivery_id, attempt },
        }),
      ),
    ];
    waiting.push(
      ...jobs.filter(({ type }) => matches(patterns, type)).toSorted((a, b) => a.at.localeCompare(b.at)),
    );
    // Sequential; an event is removed only after it was forwarded, so that errors are retried.
    for (let job = waiting[0]; job && !terminal.ending.aborted; job = waiting[0]) {
      await forwardOne(remote, options, job);
      waiting.shift();
    }
    reportSkipped(terminal, [events, resends]);
  };
  const signer = flags.secret === undefined ? "the secret shown by --print-secret" : "the given secret";
  const announce = (): void =>
    terminal.printError(`Forwarding ${patterns.join(", ")} to ${url}, signed with ${signer}. Ctrl+C stops.`);
  // A back-fill starts with the first poll; otherwise forwarding starts after it.
  if (start.isBackFill) announce();
  await poll(terminal, everyMs, pollOnce, start.isBackFill ? () => {} : announce);
}

async function forwardOne(remote: Remote, options: ForwardOptions, job: Job): Promise<void> {
  const { terminal, isJson } = remote;
  const found = await find(remote, job.eventId);
  if (found === null) return terminal.printError(`${clean(job.eventId)} was deleted by retention.`);
  const event = readEvent(found);
  const { deliveryId = null, attempt = 1 } = job.resent ?? {};
  const request = requestFor(event, options, { deliveryId, attempt, now: new Date() });
  const response = await forwardUntilAccepted(terminal, options.url, () => forward(request, terminal.ending));
  if (terminal.ending.aborted) return;
  if (isJson) terminal.print(jsonText(jsonLine(event, job, response), 0));
  else terminal.print(textLine(terminal, event.type, job, response));
}

/** Returns null if retention has deleted the event, which can happen with a resend. */
async function find(remote: Remote, id: string): Promise<string | null> {
  try {
    return await remote.send(remote.contract.events.get, `/api/v1/events/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error instanceof PosthornApiError && error.status === 404) return null;
    throw error;
  }
}

const RETRY_MS = 500;

/** Retries while nothing listens at the URL, such as during a restart of the program. */
async function forwardUntilAccepted(
  terminal: Terminal,
  url: string,
  send: () => Promise<LocalResponse>,
): Promise<LocalResponse> {
  for (let tries = 0; ; tries++) {
    const response = await send();
    if (response.kind !== "refused" || terminal.ending.aborted) return response;
    if (tries === 0)
      terminal.printError(`Nothing is listening at ${url}. Events wait until your program is up.`);
    await sleep(RETRY_MS, undefined, { signal: terminal.ending }).catch(() => {});
    if (terminal.ending.aborted) return response;
  }
}

function jsonLine(
  { id, type, tenant }: { id: string; type: string; tenant: string },
  job: Job,
  response: LocalResponse,
) {
  return {
    event_id: id,
    type,
    tenant,
    delivery_id: job.resent?.deliveryId ?? null,
    is_resent: job.resent !== null,
    status: response.kind === "responded" ? response.status : null,
    error: response.kind === "responded" ? null : response.error,
    duration_ms: response.kind === "refused" ? null : response.durationMs,
    forwarded_at: new Date().toISOString(),
  };
}

function textLine(terminal: Terminal, type: string, job: Job, response: LocalResponse): string {
  const isGood = response.kind === "responded" && response.status >= 200 && response.status < 300;
  const result = response.kind === "responded" ? String(response.status) : clean(response.error);
  const took = response.kind === "refused" ? "" : ` in ${response.durationMs} ms`;
  const time = toned(terminal, "quiet", timeText(new Date()).slice(11));
  const resent = job.resent === null ? "" : ", resent";
  return `${time}  ${toned(terminal, isGood ? "good" : "bad", result)}${took}  ${clean(type)}  ${clean(job.eventId)}${resent}`;
}

function signingOptions(flags: ListenFlags, secret: string, serverUrl: string): ForwardOptions {
  const headerPrefix = prefixOf(flags.headerPrefix);
  const schemes = schemesOf(flags.scheme, headerPrefix);
  requireSigningSecrets(schemes, secretsOf([secret]));
  return {
    secret,
    schemes,
    headerPrefix,
    format: flags.format,
    userAgent: `posthorn-listen/${VERSION}`,
    url: localUrl(flags.forwardTo),
    serverUrl,
  };
}

function localUrl(given: string | undefined): string {
  if (given === undefined) throw usage("--forward-to is required: the URL of your program.");
  const text = /^https?:\/\//i.test(given) ? given : `http://${given}`;
  const url = parseUrl(text);
  if (url !== null && url.username === "" && url.hash === "") return url.href;
  throw usage(
    `--forward-to must be a URL such as http://localhost:3000/hooks, not ${JSON.stringify(given)}.`,
  );
}
